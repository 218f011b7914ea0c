import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LocalBus } from '../bus.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { MemoryRates } from '../memory-rates.ts';
import {
  defaultInboxLimits,
  type Inbox,
  type InboxLimits,
  type ReportEvent,
  type State,
} from '../port.ts';
import { WriteStatus } from '../write-status.ts';
import { fileCollections, markOutdated } from './collections.ts';
import { ifMissing } from './files.ts';
import { InboxFile } from './inbox-file.ts';
import { journalFile } from './json-files.ts';
import { snapshotFiles } from './snapshot-files.ts';

export interface LocalOptions {
  inbox?: InboxLimits;
  report?: ReportEvent;
}

/** What the names of the folders of snapshots begin with. */
const snapshotPrefix = 'history-';
/** Excludes a copy that somebody keeps beside such a folder, as `history-….bak`. */
const isSnapshots = (name: string): boolean =>
  name.startsWith(snapshotPrefix) && /^[\w-]+$/.test(name.slice(snapshotPrefix.length));

/** State of one process: in memory, with the journal, the inbox and the snapshots in files of `folder`. */
export function localState(folder: string, options: LocalOptions = {}): State {
  const { inbox: limits = defaultInboxLimits, report } = options;
  const mutex = new KeyedMutex();
  const writes = new WriteStatus(report);
  const bus = new LocalBus(report, (...changed) => markOutdated(folder, ...changed));
  const secret = randomBytes(32);
  const claims = new Map<string, number>();
  /** Tenants of one namespace share an inbox; the index of one that nobody uses any more is not kept. */
  const inboxes = new Map<string, WeakRef<Inbox>>();
  const openInbox = (tenant: string): Inbox => {
    for (const [other, unused] of inboxes) if (!unused.deref()) inboxes.delete(other);
    const path = join(folder, `events-${tenant}.jsonl`);
    const file = new InboxFile(path, limits, (update) => bus.notify(tenant, update));
    const inbox = writes.inbox(path, file);
    inboxes.set(tenant, new WeakRef(inbox));
    return inbox;
  };
  return {
    rates: new MemoryRates(),
    async claim(name, expiresAt) {
      for (const [claimed, until] of claims) if (until <= Date.now()) claims.delete(claimed);
      if (claims.has(name)) return false;
      claims.set(name, expiresAt);
      return true;
    },
    bus,
    // With a status of its own: where collections cannot be kept, nothing is refused.
    collections: fileCollections(folder, new WriteStatus(report)),
    inbox: (tenant) => inboxes.get(tenant)?.deref() ?? openInbox(tenant),
    health: () => writes.health('local'),
    secret: async () => secret,
    journal(tenant) {
      const path = join(folder, `changes-${tenant}.jsonl`);
      return writes.journal(path, journalFile(path));
    },
    snapshots: (tenant) => snapshotFiles(join(folder, `${snapshotPrefix}${tenant}`)),
    async snapshotTenants() {
      const entries = await readdir(folder, { withFileTypes: true }).catch(ifMissing<Dirent[]>([]));
      const folders = entries.filter((entry) => entry.isDirectory() && isSnapshots(entry.name));
      return folders.map(({ name }) => name.slice(snapshotPrefix.length)).sort();
    },
    runExclusive: (name, work) => mutex.runExclusive(name, work),
    close: async () => {},
  };
}
