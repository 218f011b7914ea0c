// Bundles the server into dist/, or the folder named: one file to start, and chunks for what is loaded
// when it is needed.
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, transform } from 'esbuild';
import { writeTypes } from './build-types.mjs';
import { buildViews } from './build-views.mjs';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const root = fileURLToPath(new URL('..', import.meta.url));
const dist = resolve(root, process.argv[2] ?? 'dist');

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  // Native, and wanted only by the embedded tenant.
  external: ['libsql'],
  // Its main file finds its parts at run time, which a bundler cannot follow.
  alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
  define: { CPQ_MCP_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
};

/** What is listed of every tool, worked out here, so that no start has to. */
async function listings() {
  const { outputFiles } = await build({
    ...common,
    entryPoints: ['src/mcp/listing.ts'],
    write: false,
  });
  const { contents } = outputFiles[0];
  const code = `data:text/javascript;base64,${Buffer.from(contents).toString('base64')}`;
  return (await import(code)).listings;
}

/**
 * Errors are told apart by their names, which a minifier takes away. Only they keep them: keeping all
 * names would define one for every function that is made while a call is answered.
 */
const namesKept = {
  name: 'names-kept',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](?:src|tools)[\\/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      if (!/ extends \w*Error\b/.test(source)) return undefined;
      const options = { loader: 'ts', keepNames: true, target: common.target };
      return { contents: (await transform(source, options)).code, loader: 'js' };
    });
  },
};

/** Puts finished values, and lighter modules, in the place of what would make every start slower. */
const leaner = {
  name: 'leaner',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]src[\\/]mcp[\\/]listing\.ts$/ }, async () => ({
      contents: `export const listings = ${JSON.stringify(await listings())};`,
    }));
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: resolve(root, 'scripts/no-validator.mjs'),
    }));
  },
};

await rm(dist, { recursive: true, force: true });
await build({
  ...common,
  entryPoints: { 'cpq-mcp': 'src/main.ts', index: 'src/index.ts' },
  outdir: dist,
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  minify: true,
  plugins: [leaner, namesKept],
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as cpqCreateRequire } from 'node:module'; const require = cpqCreateRequire(import.meta.url);",
  },
  legalComments: 'linked',
});
await writeTypes(root, dist);
await buildViews(dist);
