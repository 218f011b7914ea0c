import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the built server. */
    bundle: string;
    /** Why the build failed; empty if it did not. */
    buildError: string;
    /** A folder with a file for every running process, named by its id. */
    pids: string;
    /** A folder of databases that the sandbox has filled. */
    seeded: string;
  }
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Builds the server once for a run of a project, in a folder of its own, so that another run or build does not change it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = join(
    root,
    'node_modules',
    '.cache',
    `cpq-mcp-test-${process.pid}-${project.name}`,
  );
  const pids = join(folder, 'pids');
  const dist = join(folder, 'dist');
  const seeded = join(folder, 'seeded');
  await Promise.all([pids, seeded].map((path) => mkdir(path, { recursive: true })));
  project.provide('bundle', join(dist, 'cpq-mcp.js'));
  project.provide('buildError', await build(dist));
  project.provide('pids', pids);
  project.provide('seeded', seeded);
  // Goes with the run: a server that ends may write to its folder once more after a test has deleted it.
  const temporary = await mkdtemp(join(tmpdir(), 'cpq-mcp-run-'));
  process.env.TMPDIR = temporary;
  return async () => {
    const left = (await readdir(pids)).map(Number).filter(endedByForce);
    for (const path of [folder, temporary])
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
    if (left.length > 0) throw new Error(`Processes were left running: ${left.join(', ')}`);
  };
}

/** Tests that need no server run even if the build fails; the others report the failure. */
async function build(dist: string): Promise<string> {
  const building = promisify(execFile)(process.execPath, ['scripts/build.mjs', dist], {
    cwd: root,
  });
  return building.then(
    () => '',
    (error: { stderr?: string }) =>
      `The server could not be built. ${String(error.stderr ?? error).slice(0, 500)}`,
  );
}

/** @returns whether the process was still running */
function endedByForce(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false; // Gone already: the worker that had started it was stopped before it could say so.
  }
}
