import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { expect, test } from 'vitest';
import { prompts } from '../../src/tool-kit/prompts.ts';
import { anyHost, everything, startHttpServer } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';

const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const server = shared(async () => startHttpServer(addressIn(await sandbox()), everything));

async function skillsOver(mode: 'legacy' | 'auto') {
  const client = new Client({ name: 'skills', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL((await server()).url)));
  closing({ close: () => client.close() });
  return { client, skills: new SkillsClient(client) };
}

test.each(['legacy', 'auto'] as const)(
  'every prompt is a skill whose digest holds, in the era %s',
  async (mode) => {
    const { client, skills } = await skillsOver(mode);
    expect(skills.supported).toBe(true);
    const { skills: entries } = await skills.list();
    expect(entries.map(({ frontmatter }) => frontmatter.name)).toEqual(
      prompts.map(({ name }) => name),
    );
    const known = (await client.listTools()).tools.map(({ name }) => name);
    for (const entry of entries) {
      const { skill } = await skills.get(entry.uri);
      const { text = '', verified } = await skills.read(skill);
      expect(verified).toBe(true);
      const named = text.match(/cpq_\w+/g) ?? [];
      expect(named.length).toBeGreaterThan(0);
      expect(known).toEqual(expect.arrayContaining(named));
    }
  },
);

test('a skill needs what its prompt needs', async () => {
  const env = { CPQ_GRANTS: 'company:read' };
  const { client } = await anyHost.start(addressIn(await sandbox()), { env });
  const listed = await client.request('skills/list');
  expect(JSON.stringify(listed)).toContain('skill://brief-company/SKILL.md');
  expect(JSON.stringify(listed)).not.toContain('forecast');
  const uri = 'skill://forecast/SKILL.md';
  await expect(client.request('skills/get', { uri })).rejects.toThrow('There is no such skill');
  await expect(client.request('resources/read', { uri })).rejects.toThrow('There is no such skill');
});
