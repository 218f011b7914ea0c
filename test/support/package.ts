import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { newFolder, shared } from './shared.ts';

/** The package as npm makes and installs it. */

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

export const folder = shared(async () => newFolder());

export async function emptyProject(name: string): Promise<string> {
  const path = join(await folder(), name);
  await mkdir(path);
  await writeFile(join(path, 'package.json'), '{"private":true}');
  return path;
}

/** Runs npm with a cache and a home of its own, which it may not fill from anywhere. It prints what it warns of to stderr. */
export async function npmOutput(cwd: string, ...words: string[]) {
  const home = await folder();
  const quiet = { npm_config_audit: 'false', npm_config_fund: 'false' };
  const offline = { npm_config_offline: 'true', npm_config_update_notifier: 'false' };
  const own = { HOME: home, npm_config_cache: join(home, 'cache') };
  const [program = '', ...rest] = words;
  const env = { PATH: process.env.PATH, ...quiet, ...offline, ...own };
  return execute(program, rest, { cwd, env, maxBuffer: 1e8 });
}

export async function npm(cwd: string, ...words: string[]): Promise<string> {
  return (await npmOutput(cwd, ...words)).stdout;
}

interface Packed {
  filename: string;
  size: number;
  unpackedSize: number;
  files: { path: string }[];
}

/** The package as it would be published, made of what was built for the tests. */
export const packed = shared(async () => {
  if (inject('buildError') !== '') throw new Error(inject('buildError'));
  const stage = join(await folder(), 'stage');
  await mkdir(join(stage, 'scripts'), { recursive: true });
  for (const name of await readdir(root)) {
    if (/\.(md|json)$|^LICENSE$|^icons$/.test(name)) {
      await cp(join(root, name), join(stage, name), { recursive: true });
    }
  }
  await cp(dirname(inject('bundle')), join(stage, 'dist'), { recursive: true });
  const links = join('scripts', 'packed-links.mjs');
  await cp(join(root, links), join(stage, links));
  await writeFile(join(stage, 'scripts', 'build.mjs'), '// It is built.');
  const output = await npm(stage, 'npm', 'pack', '--json');
  const [facts] = JSON.parse(output.slice(output.indexOf('[\n'))) as Packed[];
  if (!facts) throw new Error(output);
  return { ...facts, stage, tarball: join(stage, facts.filename) };
});
