import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newFolder } from './shared.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs a script of this project to its end. @param script its path in the project */
export const runScript = (script: string, ...argv: readonly string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const given = [join(root, script), ...argv];
    execFile(process.execPath, given, { cwd: root }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });

/** Runs a script that checks sources, on a project with these. */
export async function checkSources(
  script: string,
  sources: readonly (readonly [file: string, source: string])[],
): Promise<Ended> {
  const project = newFolder();
  for (const folder of ['src', 'tools']) await mkdir(join(project, folder));
  for (const [file, source] of sources) {
    await mkdir(dirname(join(project, file)), { recursive: true });
    await writeFile(join(project, file), source);
  }
  return runScript(script, project);
}
