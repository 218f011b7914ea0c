import { basename } from 'node:path';
import { errorCode } from '../values.ts';
import type { Health, Inbox, Journal, ReportEvent } from './port.ts';

/** Whether journals and inboxes can be written: logs the first write that fails, and the next that succeeds. */
export class WriteStatus {
  readonly #report: ReportEvent;
  readonly #isOutage: () => boolean;
  #failure: { name: string; since: Date } | undefined;

  /** @param isOutage true while the whole store is unavailable, which is reported once instead of for each failed write */
  constructor(report: ReportEvent = () => {}, isOutage: () => boolean = () => false) {
    this.#report = report;
    this.#isOutage = isOutage;
  }

  journal(name: string, journal: Journal): Journal {
    return { ...journal, append: (entry) => this.watch(name, journal.append(entry)) };
  }

  inbox(name: string, inbox: Inbox): Inbox {
    return {
      // An event that is known already is not written, so it proves nothing.
      add: (event, update) =>
        this.watch(name, inbox.add(event, update), (stored) => stored === 'new'),
      list: (accepts, slice) => inbox.list(accepts, slice),
    };
  }

  health(kind: Health['kind']): Health {
    if (!this.#failure) return { kind, ok: true };
    const { since } = this.#failure;
    return { kind, ok: false, fault: 'unwritable', since: since.toISOString() };
  }

  /** It can be written. */
  reset(): void {
    if (this.#failure) this.#report('state can be written again', { name: this.#failure.name });
    this.#failure = undefined;
  }

  /**
   * @param isWritten whether the result shows that something was written
   * @throws the error of the write
   */
  async watch<T>(
    path: string,
    write: Promise<T>,
    isWritten: (result: T) => boolean = () => true,
  ): Promise<T> {
    const name = basename(path);
    try {
      const result = await write;
      if (this.#failure?.name === name && isWritten(result)) this.reset();
      return result;
    } catch (error) {
      if (!this.#failure && !this.#isOutage()) {
        const code = errorCode(error) ?? 'unknown';
        this.#failure = { name, since: new Date() };
        this.#report('state cannot be written', { name, code });
      }
      throw error;
    }
  }
}
