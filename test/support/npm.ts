import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWhere } from './needs.ts';
import { shared } from './shared.ts';

const execute = promisify(execFile);
const packages = fileURLToPath(
  new URL('../../node_modules/.cache/cpq-mcp-packages/', import.meta.url),
);
const outputLimit = 64 * 1024 * 1024;

/** A group of tests that install other projects' clients. They are skipped, with a message, where npm has no registry. */
export function describeWithNpm(name: string, tests: () => void): void {
  // With CPQ_TEST_EVERYTHING the tests run, so that a failure shows its cause.
  const isMet = process.env.CPQ_TEST_EVERYTHING !== undefined || isReachable();
  describeWhere(isMet, 'packages that npm cannot reach from here', name, tests);
}

const isReachable = (): boolean =>
  spawnSync('npm', ['view', 'node@24', 'version', '--fetch-retries=0'], { timeout: 20_000 })
    .status === 0;

/** Some clients need a newer Node; the server runs on the Node of the tests. */
const newerNode = shared(async () => {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major >= 24) return process.execPath;
  const words = ['-y', '-p', 'node@24', '-c', 'node -p process.execPath'];
  return (await execute('npx', words)).stdout.trim();
});

/** Installs packages outside the project, once. @returns their folder */
export async function installed(...names: readonly string[]): Promise<string> {
  const folder = join(packages, names.join('+').replace(/[^\w.+-]/g, '-'));
  if (existsSync(folder)) return folder;
  const half = `${folder}.${process.pid}`;
  await mkdir(half, { recursive: true });
  await writeFile(join(half, 'package.json'), '{"private":true,"type":"module"}');
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  await execute('npm', ['install', ...quiet, ...names], { cwd: half, maxBuffer: outputLimit });
  // Another run of the tests may have created it meanwhile.
  await rename(half, folder).catch(() => rm(half, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export interface Ran {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs a JavaScript file on a newer Node and waits for its end, whatever its exit status. */
export async function runOnNewerNode(
  argv: readonly string[],
  cwd: string,
  more: Record<string, string> = {},
): Promise<Ran> {
  const { PATH, HOME, TMPDIR } = process.env;
  const options = { cwd, maxBuffer: outputLimit, env: { PATH, HOME, TMPDIR, ...more } };
  const running = execute(await newerNode(), argv, options);
  return running.then(
    (ran) => ({ status: 0, ...ran }),
    ({ code, stdout, stderr }: Ran & { code: unknown }) => {
      if (typeof code !== 'number') throw new Error(`it did not end by itself: ${stderr}`);
      return { status: code, stdout, stderr };
    },
  );
}

/**
 * Runs a program of `test/support/programs` with these packages. @returns its output, parsed as JSON @throws with
 * its output if it fails
 */
export async function runProgram(
  name: string,
  input: unknown,
  ...names: readonly string[]
): Promise<unknown> {
  const folder = await installed(...names);
  const source = fileURLToPath(new URL(`programs/${name}`, import.meta.url));
  const program = join(folder, basename(name));
  await copyFile(source, program);
  const { status, stdout, stderr } = await runOnNewerNode([program, JSON.stringify(input)], folder);
  if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
