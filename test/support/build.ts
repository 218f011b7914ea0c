import { execFile } from 'node:child_process';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server as it is shipped: what a host starts. */
    bundle: string;
    /** Why there is no such bundle; empty when there is. */
    buildError: string;
    /** A file in it for every process that was started and has not ended, named by its id. */
    pids: string;
  }
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Builds the server once for a run, in a folder of the run's own: neither a second run nor a build can
 * then take it away under the tests.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = join(root, 'node_modules', '.cache', `cpq-mcp-test-${process.pid}`);
  const pids = join(folder, 'pids');
  const dist = join(folder, 'dist');
  await mkdir(pids, { recursive: true });
  project.provide('bundle', join(dist, 'cpq-mcp.js'));
  project.provide('buildError', await build(dist));
  project.provide('pids', pids);
  return async () => {
    const left = (await readdir(pids)).map(Number).filter(endedByForce);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    if (left.length > 0) throw new Error(`Processes were left running: ${left.join(', ')}`);
  };
}

/** Tests that need no server run without one; the others say what is wrong. */
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

/** Whether it was still there. */
function endedByForce(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false; // Gone already: the worker that had started it was stopped before it could say so.
  }
}
