import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, inject, test } from 'vitest';
import { everything } from '../support/hosts.ts';
import { describeWhere } from '../support/needs.ts';
import { shownTools } from '../support/samples.ts';

/** The Inspector, which needs a newer Node than the server. */
const packages = ['node@24', '@modelcontextprotocol/inspector@2.12.0'];

interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

function withInspector(command: string): Promise<Ran> {
  const argv = ['-y', ...packages.flatMap((name) => ['-p', name]), '-c', command];
  const options = { timeout: 240_000, maxBuffer: 8 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile('npx', argv, options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ status, stdout, stderr });
    });
  });
}

const { grants, toolsets } = everything;

/** Runs the Inspector with the built server over stdio and the embedded tenant. */
const inspect = (words: string): Promise<Ran> =>
  withInspector(
    `mcp-inspector --cli "${process.execPath}" "${inject('bundle')}" --sandbox --grants ${grants} --toolsets ${toolsets} ${words} --format json`,
  );

interface AppInfo {
  hasApp: boolean;
  toolName: string;
  resourceUri?: string;
}

const viewed = shownTools.filter(({ view }) => view !== undefined);
const installed = await withInspector('mcp-inspector --cli --help');

describeWhere(
  installed.status === 0,
  'the inspector, which could not be installed (is the package registry to be reached?)',
  'the views, as the Inspector finds them',
  () => {
    test.each(viewed.map(({ name, view }) => [name, view]))(
      'finds the view of %s',
      async (name, view) => {
        const { status, stdout, stderr } = await inspect(
          `--method tools/call --tool-name ${name} --app-info`,
        );
        expect({ status, stderr }).toMatchObject({ status: 0 });
        expect(JSON.parse(stdout)).toEqual({
          appInfo: {
            hasApp: true,
            toolName: name,
            resourceUri: `ui://cpq-mcp/${view}.html`,
            resourceMimeType: 'text/html;profile=mcp-app',
            csp: { connectDomains: [], resourceDomains: [] },
            prefersBorder: true,
          },
        });
      },
    );

    test('finds these views, and no others, among all tools', async () => {
      const { status, stdout } = await inspect('--method tools/list --app-info');
      expect(status).toBe(0);
      const lines = stdout.trim().split('\n');
      const found = lines.map((line) => JSON.parse(line) as AppInfo);
      expect(found.length).toBeGreaterThan(viewed.length);
      expect(found.filter(({ hasApp }) => hasApp).map(({ toolName }) => toolName)).toEqual(
        viewed.map(({ name }) => name),
      );
    });

    test('reports where there is none', async () => {
      const { status, stdout } = await inspect(
        '--method tools/call --tool-name cpq_find --app-info',
      );
      expect(status).toBe(2);
      expect(JSON.parse(stdout)).toMatchObject({ appInfo: { hasApp: false } });
    });

    test.each([...new Set(viewed.map(({ view }) => view))])(
      'reads the whole %s view',
      async (view) => {
        const { stdout } = await inspect(`--method resources/read --uri ui://cpq-mcp/${view}.html`);
        const { result } = JSON.parse(stdout) as { result: { contents: { text: string }[] } };
        const html = await readFile(
          join(dirname(inject('bundle')), 'views', `${view}.html`),
          'utf8',
        );
        const [content] = result.contents;
        expect(content?.text.slice(-html.length / 2)).toBe(html.slice(-html.length / 2));
        expect(gzipSync(content?.text ?? '').length).toBeLessThan(150_000);
      },
    );
  },
);
