import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clockAt } from './clock.ts';

type Close = () => Promise<unknown>;

const openClosers: Close[] = [];

/** Created on first use, and the same for every test of the file. */
export function shared<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Closes it after the tests of the file. */
export function closing<T extends { close: Close }>(it: T): T {
  openClosers.push(() => it.close());
  return it;
}

/** Closes everything, the latest first. */
export async function closeAll(): Promise<void> {
  for (const close of openClosers.splice(0).reverse()) await close();
}

/** From now on it is noon of this day for the file's tests, and for the servers that they start in this process. */
export function useDay(day: string, zone = process.env.TZ): void {
  const { TEST_CLOCK_AHEAD_MS = '0', TZ } = process.env;
  setClock(clockAt(day).TEST_CLOCK_AHEAD_MS, zone);
  closing({ close: async () => setClock(TEST_CLOCK_AHEAD_MS, TZ) });
}

function setClock(TEST_CLOCK_AHEAD_MS = '0', TZ?: string): void {
  Object.assign(process.env, { TEST_CLOCK_AHEAD_MS, TZ });
  // Assigned, it would be the text "undefined".
  if (TZ === undefined) delete process.env.TZ;
}

/** Gives the file the machine's clock, which programs other than Node have. */
export function useMachineClock(): void {
  const { TEST_CLOCK_AHEAD_MS, TZ } = process.env;
  setClock('0', TZ);
  closing({ close: async () => setClock(TEST_CLOCK_AHEAD_MS, TZ) });
}

/** A folder that is deleted after the tests of the file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cpq-mcp-'));
  closing({ close: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) });
  return folder;
}
