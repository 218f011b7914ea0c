import { basename } from 'node:path';
import { errorCode } from '../values.ts';
import type { Health, Inbox, Journal, ReportEvent } from './port.ts';

export type WriteStatus = ReturnType<typeof writeStatus>;

/**
 * Whether journals and inboxes can be written: logs the first write that fails, and the next that succeeds.
 * @param isOutage true while the whole store is unavailable, which is reported once instead of for each failed write
 */
export function writeStatus(report: ReportEvent = () => {}, isOutage: () => boolean = () => false) {
  let failure: { name: string; since: Date } | undefined;

  /** It can be written. */
  function reset(): void {
    if (failure) report('state can be written again', { name: failure.name });
    failure = undefined;
  }

  /**
   * @param isWritten whether the result shows that something was written
   * @throws the error of the write
   */
  async function watch<T>(
    path: string,
    write: Promise<T>,
    isWritten: (result: T) => boolean = () => true,
  ): Promise<T> {
    const name = basename(path);
    try {
      const result = await write;
      if (failure?.name === name && isWritten(result)) reset();
      return result;
    } catch (error) {
      if (!failure && !isOutage()) {
        failure = { name, since: new Date() };
        report('state cannot be written', { name, code: errorCode(error) ?? 'unknown' });
      }
      throw error;
    }
  }

  return {
    reset,
    watch,
    journal: (name: string, journal: Journal): Journal => ({
      ...journal,
      append: (entry) => watch(name, journal.append(entry)),
    }),
    inbox: (name: string, inbox: Inbox): Inbox => ({
      // An event that is known already is not written, so it proves nothing.
      add: (event, update) => watch(name, inbox.add(event, update), (stored) => stored === 'new'),
      list: (accepts, slice) => inbox.list(accepts, slice),
    }),
    health: (kind: Health['kind']): Health =>
      failure
        ? { kind, ok: false, fault: 'unwritable', since: failure.since.toISOString() }
        : { kind, ok: true },
  };
}
