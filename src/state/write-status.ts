import { basename } from 'node:path';
import { errorCode } from '../values.ts';
import type { Health, Inbox, Journal } from './port.ts';

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

  journal(name: string, journal: Journal): Journal {
    return { ...journal, append: (entry) => this.#watch(name, journal.append(entry)) };
  }

  inbox(name: string, inbox: Inbox): Inbox {
    return {
      add: (event, update) => this.#watch(name, inbox.add(event, update)),
      list: (accepts, slice) => inbox.list(accepts, slice),
    };
  }

  /** By the failure that has lasted longest. @param effect what it means for callers */
  health(kind: Health['kind'], effect: string): Health {
    const [failure] = this.#failures.values();
    if (!failure) return { kind, ok: true, notes: [] };
    const notes = [`The last write failed (${failure.code}): ${effect}.`];
    return { kind, ok: false, fault: 'unwritable', since: failure.since.toISOString(), notes };
  }

  /** Marks all stores as writable. */
  reset(): void {
    for (const name of [...this.#failures.keys()]) this.#succeeded(name);
  }

  /** @throws the error of the write */
  async #watch<T>(name: string, write: Promise<T>): Promise<T> {
    try {
      const result = await write;
      this.#succeeded(name);
      return result;
    } catch (error) {
      this.#failed(name, error);
      throw error;
    }
  }

  #succeeded(name: string): void {
    if (this.#failures.delete(name))
      this.#report('state can be written again', { name: basename(name) });
  }

  #failed(name: string, error: unknown): void {
    if (this.#failures.has(name) || this.#isOutage()) return;
    const code = errorCode(error) ?? 'unknown';
    this.#failures.set(name, { since: new Date(), code });
    this.#report('state cannot be written', { name: basename(name), code });
  }
}
