// Runs a script written in TypeScript: node scripts/run-ts.mjs scripts/some.ts …
import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { define } from './defines.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const [script = '', ...args] = process.argv.slice(2);
const folder = join(root, 'node_modules', '.cache', 'cpq-mcp-scripts');
const compiled = join(folder, `${basename(script, '.ts')}-${process.pid}.mjs`);

await mkdir(folder, { recursive: true });
try {
  await build({
    entryPoints: [script],
    absWorkingDir: root,
    outfile: compiled,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    define,
    logLevel: 'warning',
  });
  process.argv.splice(1, process.argv.length, script, ...args);
  await import(pathToFileURL(compiled).href);
} finally {
  await rm(compiled, { force: true });
}
