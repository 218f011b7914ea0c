import { expect } from 'vitest';

/** Sockets and timers of this process, those of the test runner among them. */
export const leftOver = (): string[] =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => /TCPSocket|Timeout/.test(kind))
    .sort();

const patienceMs = 10_000;

/**
 * Expects what was opened or set since `before` to be gone, soon. With a pause of its own: a timer that
 * waits for the answer would be counted.
 */
export async function expectNothingLeftSince(before: readonly string[]): Promise<void> {
  const end = Date.now() + patienceMs;
  while (leftOver().length > before.length && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(leftOver()).toEqual(before);
}
