import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';

/** Sockets and timers of this process, including those of the test runner. */
export const leftOverResources = (): string[] =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => /TCPSocket|Timeout/.test(kind))
    .sort();

function addedResources(before: readonly string[]): string[] {
  const known = [...before];
  return leftOverResources().filter((kind) => {
    const at = known.indexOf(kind);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}

const timeoutMs = 10_000;

interface Socket {
  readonly localEndpoint?: { readonly port: number };
  readonly remoteEndpoint?: { readonly port: number };
}

/** The ports of open connections: a failure tells whose they are. */
function connections(): string {
  const { libuv } = process.report.getReport() as unknown as { libuv: readonly Socket[] };
  return libuv
    .filter((it) => it.remoteEndpoint)
    .map((it) => `${it.localEndpoint?.port} to ${it.remoteEndpoint?.port}`)
    .join(', ');
}

/**
 * Expects that all sockets and timers created since `before` are soon gone. Waits with its own timer, which is not
 * counted.
 */
export async function expectNoLeaks(before: readonly string[]): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (addedResources(before).length > 0 && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const added = addedResources(before);
  expect(added, added.length > 0 ? connections() : '').toEqual([]);
}

/** Used heap in bytes after garbage collection: the minimum of several measurements. */
export async function usedHeap(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const seen: number[] = [];
  for (let at = 0; at < 10; at++) {
    // The target of a WeakRef is kept until the end of the current job.
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect();
    seen.push(process.memoryUsage().heapUsed);
  }
  return Math.min(...seen);
}
