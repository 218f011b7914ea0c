// Bundles the server into dist/, or the folder named: one file to start, and chunks for what is loaded
// when it is needed.
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeTypes } from './build-types.mjs';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(root, process.argv[2] ?? 'dist');

await rm(dist, { recursive: true, force: true });
await build({
  entryPoints: { 'cpq-mcp': 'src/main.ts', index: 'src/index.ts' },
  absWorkingDir: root,
  outdir: dist,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  minify: true,
  keepNames: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Native, and wanted only by the embedded tenant.
  external: ['libsql'],
  // Its main file finds its parts at run time, which a bundler cannot follow.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  define: { CPQ_MCP_VERSION: JSON.stringify(version) },
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as cpqCreateRequire } from 'node:module'; const require = cpqCreateRequire(import.meta.url);",
  },
  legalComments: 'linked',
  logLevel: 'warning',
});
await writeTypes(root, dist);
