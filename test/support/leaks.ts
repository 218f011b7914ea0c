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

/**
 * Expects that all sockets and timers created since `before` are soon gone. Waits with its own timer, which is not
 * counted.
 */
export async function expectNoLeaks(before: readonly string[]): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (addedResources(before).length > 0 && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(addedResources(before)).toEqual([]);
}
