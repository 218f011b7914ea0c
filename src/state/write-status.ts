import { basename } from 'node:path';
import { errorCode } from '../values.ts';
import type { Health, Inbox, Journal, ReportEvent } from './port.ts';

export type WriteStatus = ReturnType<typeof writeStatus>;

export interface WriteStatusOptions {
  report?: ReportEvent | undefined;
  /** True while the whole store is unavailable, which is reported once instead of for each failed write. */
  isOutage?(): boolean;
  /** Writes something, where that shows that all can be written. Without it, only a write of the same name does. */
  probe?(): Promise<unknown>;
}

/** Whether journals and inboxes can be written: logs the first write that fails, and the next that succeeds. */
export function writeStatus({ report = () => {}, isOutage, probe }: WriteStatusOptions) {
  let failure: { name: string; since: Date } | undefined;

  /** It can be written. */
  function reset(): void {
    if (failure) report('state can be written again', { name: failure.name });
    failure = undefined;
  }

  /** @param isWritten whether the result shows that something was written */
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
      if (!failure && !isOutage?.()) {
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
    async health(kind: Health['kind']): Promise<Health> {
      // Perhaps nobody writes again what could not be written.
      if (failure && probe) await probe().then(reset, () => {});
      return failure
        ? { kind, ok: false, fault: 'unwritable', since: failure.since.toISOString() }
        : { kind, ok: true };
    },
  };
}
