import { describe, expect, test } from 'vitest';
import { checkSources, runScript } from '../support/run-script.ts';
import { shared } from '../support/shared.ts';

const script = 'scripts/check-architecture.mjs';

type Sample = readonly [file: string, source: string];

/** Gives each sample its own file, except those for files that exist once. */
const samplesOf = (pairs: readonly (readonly string[])[]): Sample[] =>
  pairs.map(([file = '', source = ''], at) => [
    file === 'src/main.ts' ? file : file.replace('.ts', `${at}.ts`),
    source,
  ]);

test('this project keeps to the order of its modules', async () => {
  expect(await runScript(script)).toMatchObject({ status: 0, stderr: '' });
});

const bad: [file: string, source: string, output: string][] = [
  ['src/service/a.ts', "import { x } from '../tenant/t.ts';", 'src/tenant/t.ts'],
  ['src/service/a.ts', "import type { X } from '../briefs/b.ts';", 'src/briefs/b.ts'],
  ['src/state/s.ts', "import { x } from '../service/a.ts';", 'src/service/a.ts'],
  [
    'src/text/t.ts',
    "import { runInSlices } from '../slices.ts';\nimport { x } from '../state/s.ts';",
    'src/state/s.ts',
  ],
  ['src/hosts/h.ts', "import { x } from '../fast-path/f.ts';", 'src/fast-path/f.ts'],
  ['src/briefs/b.ts', "import type { Reading } from '../reading/r.ts';", 'src/reading/r.ts'],
  ['src/briefs/deep/b.ts', "import { x } from '../../tenant/t.ts';", 'src/tenant/t.ts'],
  ['src/names/n.ts', "import { brief } from '../briefs/b.ts';", 'src/briefs/b.ts'],
  ['src/figures/f.ts', "import { x } from '../names/n.ts';", 'src/names/n.ts'],
  ['src/history/h.ts', "import { x } from '../tenant/t.ts';", 'src/tenant/t.ts'],
  ['src/lists/l.ts', "import { x } from '../changes/c.ts';", 'src/changes/c.ts'],
  ['src/events/e.ts', "import { x } from '../lists/l.ts';", 'src/lists/l.ts'],
  [
    'src/tenant/t.ts',
    "import { x } from '../tool-kit/define-tool.ts';",
    'src/tool-kit/define-tool.ts',
  ],
  ['src/tenant/t.ts', "import { settings } from '../config.ts';", 'src/config.ts'],
  ['tools/t.ts', "import { x } from '../src/mcp/results.ts';", 'src/mcp/results.ts'],
  ['tools/t.ts', "import {\n  x,\n  y,\n} from '../src/commands/http.ts';", 'src/commands/http.ts'],
  ['src/mcp/m.ts', "export { x } from '../hosts/h.ts';", 'src/hosts/h.ts'],
  ['src/mcp/m.ts', "export * from '../hosts/h.ts';", 'src/hosts/h.ts'],
  ['src/mcp/m.ts', "import { /* from 'a' */ x } from '../hosts/h.ts';", 'src/hosts/h.ts'],
  ['src/mcp/m.ts', "import /* ; */ { x } from /* 'b' */ '../hosts/h.ts';", 'src/hosts/h.ts'],
  ['src/hosts/h.ts', "const x = await import('../commands/http.ts');", 'src/commands/http.ts'],
  ['src/hosts/h.ts', 'const x = await import(`../commands/http.ts`);', 'src/commands/http.ts'],
  ['src/hosts/h.ts', "import '../sandbox/index.ts';", 'src/sandbox/index.ts'],
  [
    'src/hosts/h.ts',
    "new Worker(new URL('../sandbox/w.ts', import.meta.url));",
    'src/sandbox/w.ts',
  ],
  ['src/main.ts', "import { x } from './sandbox/index.ts';", 'src/sandbox/index.ts'],
  [
    'src/sandbox/s.ts',
    "import type { X } from '../service/records/records.ts';",
    'src/service/records/records.ts',
  ],
  [
    'src/sandbox/seed/s.ts',
    "type X = import('../../service/records/records.ts').X;",
    'src/service/records/records.ts',
  ],
  ['src/sandbox/s.ts', "import { version } from '../version.ts';", 'src/version.ts'],
  ['src/sandbox/s.ts', "import { isObject } from '../values.ts';", 'src/values.ts'],
  ['src/service/a.ts', "import { x } from './../tenant/../tenant/t.ts';", 'src/tenant/t.ts'],
  ['src/state/s.ts', "import { x } from '../../tools/../src/tenant/t.ts';", 'src/tenant/t.ts'],
  ['src/loft/l.ts', "import { x } from '../mcp/m.ts';", 'src/mcp/m.ts'],
  ['src/mcp/m.ts', "import { request } from 'undici';", 'undici'],
  ['src/tenant/t.ts', "import type { Pool } from 'undici';", 'undici'],
  ['tools/t.ts', "import type { Tool } from '@modelcontextprotocol/server';", 'server'],
  ['src/commands/c.ts', "import { Client } from '@modelcontextprotocol/client';", 'client'],
  ['src/state/s.ts', "import Database from 'node-sqlite3-wasm';", 'node-sqlite3-wasm'],
  ['src/tenant/t.ts', "await import('node:sqlite');", 'node:sqlite'],
  ['src/tenant/t.ts', "process.getBuiltinModule('node:sqlite');", 'node:sqlite'],
  ['src/tenant/t.ts', "import { createClient } from '@redis/client';", '@redis/client'],
  ['src/tenant/t.ts', "import * as z from 'zod';", 'zod'],
  ['src/tenant/t.ts', "import { readFile } from 'node:fs/promises';", 'node:fs/promises'],
  ['src/hosts/h.ts', "import Redis from 'ioredis';", 'ioredis'],
  ['src/service/a.ts', "import { x } from 'cpq-mcp';", 'cpq-mcp'],
  ['src/service/a.ts', 'const x = await import(name);', 'only known when it runs'],
  ['src/service/a.ts', "import { createRequire } from 'node:module';", 'createRequire'],
  ['src/hosts/h.ts', 'const { HOME } = process.env;', 'environment'],
  ['src/hosts/h.ts', "const { HOME } = process['env'];", 'environment'],
  ['src/hosts/h.ts', 'const { env } = process;', 'environment'],
  ['src/hosts/h.ts', "import { env } from 'node:process';", 'node:process'],
  ['src/hosts/h.ts', 'const { getBuiltinModule } = process;', 'getBuiltinModule'],
  ['src/briefs/b.ts', 'const now = Date.now();', 'clock'],
  ['src/figures/f.ts', 'const now = new Date();', 'clock'],
];

describe('an import against the order of the modules is refused', () => {
  const samples = samplesOf(bad);
  const checked = shared(() => checkSources(script, samples));

  test('with an exit status that fails a build, and a pointer to the documentation', async () => {
    const { status, stderr } = await checked();
    expect(status).toBe(1);
    expect(stderr).toContain(
      `${bad.length} uses against the order of the modules; see docs/architecture.md.`,
    );
  });

  test.each(samples.map((sample, at) => [...sample, bad[at]?.[2]] as const))(
    '%s: %s',
    async (file, _source, output) => {
      const line = (await checked()).stderr.split('\n').find((it) => it.startsWith(`${file}: `));
      expect(line).toContain(output);
    },
  );
});

const good: [file: string, source: string][] = [
  ['src/commands/c.ts', "import { startSandbox } from '../sandbox/index.ts';"],
  ['src/commands/c.ts', "import { readSettings } from '../config.ts';"],
  ['src/main.ts', "const c = (await import('./commands/http.ts')).http;"],
  ['src/hosts/h.ts', "import type { Server } from '@modelcontextprotocol/server';"],
  ['src/mcp/m.ts', "import { catalog } from '../../tools/catalog.ts';"],
  ['tools/t.ts', "import { brief } from '../src/briefs/pipeline/pipeline.ts';"],
  ['src/changes/t.ts', "import type { State } from '../state/port.ts';"],
  ['src/history/h.ts', "import type { Deal } from '../figures/deals.ts';"],
  ['src/briefs/b.ts', "import { toRecord } from '../service/records/records.ts';"],
  ['src/briefs/b.ts', 'const day = new Date(0);'],
  ['src/state/s.ts', "import { isObject } from '../values.ts';"],
  ['src/service/connections/pool.ts', "export { Pool } from 'undici';"],
  ['src/sandbox/s.ts', "import Database from 'node-sqlite3-wasm';"],
  ['src/state/s.ts', "import { createClient } from 'redis';"],
  ['tools/t.ts', "// like import(name), but output\nimport * as z from 'zod';"],
];

test('an import in the order of the modules is accepted', async () => {
  expect(await checkSources(script, samplesOf(good))).toMatchObject({ status: 0, stderr: '' });
});
