// Writes the type declarations of the one module that programs import. It exposes no type of the modules behind
// it, so it is compiled alone, and no type of a development dependency gets into the package.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin',
  'tsc',
);
const alone = ['--ignoreConfig', '--noResolve', '--noCheck', '--types', ''];
const emitted = ['--declaration', '--emitDeclarationOnly', '--target', 'es2023'];

export async function writeTypes(root, dist) {
  const args = ['src/index.ts', ...alone, ...emitted, '--module', 'nodenext', '--outDir', dist];
  await promisify(execFile)(process.execPath, [compiler, ...args], { cwd: root });
}
