import { open, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { errorCode } from '../values.ts';
import { writeSynced } from './files/files.ts';
import type { Inbox, Journal } from './port.ts';

/** Logs that something cannot be written, or can be written again. */
export type ReportEvent = (event: string, facts: Record<string, unknown>) => void;

interface Failure {
  since: Date;
  code: string;
}

/** The result of the last write to each journal and inbox. */
export class WriteStatus {
  readonly #report: ReportEvent;
  readonly #isOutage: () => boolean;
  readonly #failures = new Map<string, Failure>();

  /** @param isOutage true while the whole store is unavailable, which is reported once instead of for each failed write */
  constructor(report: ReportEvent = () => {}, isOutage: () => boolean = () => false) {
    this.#report = report;
    this.#isOutage = isOutage;
  }

  /** The failure that has lasted longest, if any. */
  get failure(): Failure | undefined {
    return this.#failures.values().next().value;
  }

  /** The names of the stores whose last write failed. */
  get failing(): string[] {
    return [...this.#failures.keys()];
  }

  journal(name: string, journal: Journal): Journal {
    return {
      append: (entry) => this.#watch(name, () => journal.append(entry)),
      read: () => journal.read(),
    };
  }

  inbox(name: string, inbox: Inbox): Inbox {
    return {
      add: (event, update) =>
        this.#watch(
          name,
          () => inbox.add(event, update),
          (how) => how === 'new',
        ),
      list: (accepts, slice) => inbox.list(accepts, slice),
    };
  }

  succeeded(name: string): void {
    if (this.#failures.delete(name))
      this.#report('state can be written again', { name: label(name) });
  }

  /** Marks all stores as writable. */
  reset(): void {
    for (const name of this.failing) this.succeeded(name);
  }

  #failed(name: string, error: unknown): void {
    if (this.#failures.has(name) || this.#isOutage()) return;
    const code = errorCode(error) ?? 'unknown';
    this.#failures.set(name, { since: new Date(), code });
    this.#report('state cannot be written', { name: label(name), code });
  }

  /** @throws the error of `write` */
  async #watch<T>(
    name: string,
    write: () => Promise<T>,
    hasWritten: (result: T) => boolean = () => true,
  ): Promise<T> {
    try {
      const result = await write();
      if (hasWritten(result)) this.succeeded(name);
      return result;
    } catch (error) {
      this.#failed(name, error);
      throw error;
    }
  }
}

const label = (name: string): string => basename(name);

/** Larger than most entries, so that a nearly full disk is detected. */
const probeBytes = 64 * 1024;

/** True if the file can be opened for writing and its folder has free space. An absent file is created, empty. */
export async function isWritable(path: string): Promise<boolean> {
  const probe = `${path}.${process.pid}.probe`;
  try {
    await (await open(path, 'a', 0o600)).close();
    await writeSynced(probe, Buffer.alloc(probeBytes));
    return true;
  } catch {
    return false;
  } finally {
    await rm(probe, { force: true }).catch(() => {}); // It could not be made.
  }
}
