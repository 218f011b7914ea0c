import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { LocalBus } from './bus.ts';
import { InboxFile } from './inbox-file.ts';
import { JournalFile } from './journal-file.ts';
import { MemoryRates } from './memory-rates.ts';
import { type InboxLimits, type OnceSet, type State, usualInboxLimits } from './port.ts';
import { Turns } from './turns.ts';

/** What was claimed in this process. */
class MemoryOnce implements OnceSet {
  readonly #claimed = new Map<string, number>();

  async claim(name: string, expiresAt: number): Promise<boolean> {
    const now = Date.now();
    for (const [claimed, until] of this.#claimed) if (until <= now) this.#claimed.delete(claimed);
    if (this.#claimed.has(name)) return false;
    this.#claimed.set(name, expiresAt);
    return true;
  }
}

export interface LocalOptions {
  inbox?: InboxLimits;
}

/** State of one process: in memory, and what must last in files of `folder`. */
export function localState(folder: string, { inbox = usualInboxLimits }: LocalOptions = {}): State {
  const turns = new Turns();
  const bus = new LocalBus();
  const secret = randomBytes(32);
  const inboxes = new Map<string, InboxFile>();
  const inboxOf = (tenant: string): InboxFile => {
    const path = join(folder, `events-${tenant}.jsonl`);
    const known =
      inboxes.get(tenant) ?? new InboxFile(path, inbox, (update) => bus.tell(tenant, update));
    inboxes.set(tenant, known);
    return known;
  };
  return {
    rates: new MemoryRates(),
    once: new MemoryOnce(),
    bus,
    inbox: inboxOf,
    health: () => ({ kind: 'local', ok: true, notes: [] }),
    secret: async () => secret,
    journal: (tenant) => new JournalFile(join(folder, `changes-${tenant}.jsonl`)),
    alone: (name, work) => turns.take(name, work),
    close: async () => {},
  };
}
