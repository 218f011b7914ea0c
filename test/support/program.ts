import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { define } from '../../scripts/defines.mjs';

/** Compiles a program of `test/support/programs` into that folder, and returns its path. */
export async function buildProgram(name: string, folder: string): Promise<string> {
  const outfile = join(folder, `${name}.mjs`);
  await build({
    entryPoints: [`test/support/programs/${name}.ts`],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    define,
  });
  return outfile;
}

/** Kills a process while it writes its nth file into that folder, and waits until it has ended. */
export async function killAtFile(child: ChildProcess, folder: string, nth: number): Promise<void> {
  const exited = once(child, 'exit');
  let files = 0;
  const watcher = watch(folder, (_event, file) => {
    if (file?.endsWith('.draft')) files += 1;
    if (files >= nth) child.kill('SIGKILL');
  });
  await exited;
  watcher.close();
}
