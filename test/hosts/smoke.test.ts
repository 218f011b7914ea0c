import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import * as module from 'node:module';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { everyHost, open, serving } from '../support/hosts.ts';
import { run } from '../support/process.ts';
import { newFolder } from '../support/shared.ts';

const { address } = embeddedTenant({ scale: 0.1 });

for (const host of everyHost) {
  describe(host.name, () => {
    const server = serving({ at: address, on: host });

    test('lists its tools and answers a call', async () => {
      expect(await server.names()).toContain('cpq_list_companies');
      const { records, page, text } = await server.call('cpq_list_companies', { size: 3 });
      expect(records).toHaveLength(3);
      expect(page.next).toBe(3);
      for (const { id } of records) expect(text).toContain(id);
    });
  });
}

for (const host of everyHost.filter(({ era }) => era === 'modern')) {
  test(`announces nothing, and says so at once to who listens, ${host.name}`, async () => {
    const { client, output } = await open({ at: address, on: host });
    const listening = (client.sdk as Client).listen({ toolsListChanged: true });
    await expect(listening).rejects.toThrow('Method not found');
    expect(output.stderr).not.toMatch(/error|warn/i);
  });
}

/** From Node 22.1 on. */
const keepsCompiled = 'enableCompileCache' in module;

/** The compiled files that a start keeps in this folder. */
async function keptIn(folder: string, env: Record<string, string>): Promise<readonly string[]> {
  expect((await run(['--version'], env)).status).toBe(0);
  return existsSync(folder) ? readdirSync(folder) : [];
}

const caches = process.platform === 'darwin' ? 'Library/Caches' : '.cache';

describe.runIf(process.platform !== 'win32')('compiled code is kept for the next start', () => {
  test.each([
    ['HOME', caches],
    ['XDG_CACHE_HOME', '.'],
  ])('below %s, in a folder that only the user can read', async (name, cache) => {
    const given = newFolder();
    const folder = join(given, cache, 'cpq-mcp');
    expect(await keptIn(folder, { [name]: given })).toHaveLength(keepsCompiled ? 1 : 0);
    if (keepsCompiled) expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test.each([0o720, 0o702])('not where others can write: %o', async (mode) => {
    const XDG_CACHE_HOME = newFolder();
    const folder = join(XDG_CACHE_HOME, 'cpq-mcp');
    mkdirSync(folder);
    chmodSync(folder, mode);
    expect(await keptIn(folder, { XDG_CACHE_HOME })).toEqual([]);
  });

  test('not behind a link, which others may have made', async () => {
    const [XDG_CACHE_HOME, elsewhere] = [newFolder(), newFolder()];
    symlinkSync(elsewhere, join(XDG_CACHE_HOME, 'cpq-mcp'));
    expect(await keptIn(elsewhere, { XDG_CACHE_HOME })).toEqual([]);
  });

  test('not where the environment says that nothing is kept', async () => {
    const XDG_CACHE_HOME = newFolder();
    const env = { XDG_CACHE_HOME, NODE_DISABLE_COMPILE_CACHE: '1' };
    expect(await keptIn(join(XDG_CACHE_HOME, 'cpq-mcp'), env)).toEqual([]);
  });
});
