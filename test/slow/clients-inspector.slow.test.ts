import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeWithNpm, installed, runOnNewerNode } from '../support/npm.ts';
import { everyWay, type Reached, theKey } from '../support/reached.ts';
import { shownTools } from '../support/samples.ts';
import { shared } from '../support/shared.ts';

/** The Inspector's command line: its check of schemas that some host cannot take, calls, and views. */

const inspector = '@modelcontextprotocol/inspector';
const folder = shared(() => installed(`${inspector}@2.12.0`));
const eras = ['legacy', 'modern'] as const;

/** Its arguments: what to start, or where to connect. */
const target = (reached: Reached): string[] =>
  'url' in reached
    ? ['--server-url', reached.url]
    : [
        ...Object.entries(reached.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
        '--',
        reached.command,
        ...reached.args,
      ];

async function inspect(reached: Reached, era: string, ...words: readonly string[]) {
  const launcher = join('node_modules', inspector, 'clients', 'launcher', 'build', 'index.js');
  const how = ['--cli', '--format', 'json', '--protocol-era', era, ...words];
  return runOnNewerNode([launcher, ...how, ...target(reached)], await folder());
}

describeWithNpm('the Inspector', () => {
  describe.each(everyWay)('over %s', (_, reached) => {
    test.each(eras)('reports no problems of the tools, %s era', async (era) => {
      const words = ['--method', 'tools/list', '--strict'];
      const { status, stdout, stderr } = await inspect(await reached(), era, ...words);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const names = JSON.parse(stdout).result.tools.map(({ name }: { name: string }) => name);
      expect(names).toEqual(shownTools.map(({ name }) => name));
    });

    test.each(eras)('calls, reads and gets, %s era', async (era) => {
      const at = await reached();
      const ask = async (...words: readonly string[]) =>
        JSON.parse((await inspect(at, era, '-q', ...words)).stdout).result;
      const list = ['--method', 'tools/call', '--tool-name', 'cpq_list_companies'];
      const answer = await ask(...list, '--tool-args-json', '{"size":3}');
      expect(answer.structuredContent.records).toHaveLength(3);
      const page = await ask('--method', 'resources/read', '--uri', 'cpq://definitions');
      expect(page.contents[0].text).toContain('margin');
      const review = await ask('--method', 'prompts/get', '--prompt-name', 'pipeline-review');
      expect(JSON.stringify(review.messages)).toContain('cpq_brief_pipeline');
      expect(JSON.stringify({ answer, page, review })).not.toContain(await theKey());
    });

    test('finds the views of these tools, and of no others, and reads one', async () => {
      const at = await reached();
      const { stdout } = await inspect(at, 'modern', '--method', 'tools/list', '--app-info');
      const tools = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(tools.filter(({ hasApp }) => hasApp)).toEqual(
        shownTools
          .filter(({ view }) => view !== undefined)
          .map(({ name, view }) => ({
            hasApp: true,
            toolName: name,
            resourceUri: `ui://cpq-mcp/${view}.html`,
            resourceMimeType: 'text/html;profile=mcp-app',
            csp: { connectDomains: [], resourceDomains: [] },
            prefersBorder: true,
          })),
      );
      const words = ['--method', 'resources/read', '--uri', 'ui://cpq-mcp/quote.html'];
      const { result } = JSON.parse((await inspect(at, 'modern', ...words)).stdout);
      expect(result.contents[0].text).toMatch(/<\/html>\s*$/);
    });
  });
});
