import { randomBytes } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LocalBus } from '../bus.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { MemoryRates } from '../memory-rates.ts';
import {
  defaultInboxLimits,
  type Health,
  type Inbox,
  type InboxLimits,
  type OnceSet,
  type State,
} from '../port.ts';
import { WeakValues } from '../weak-values.ts';
import { isWritable, type ReportEvent, WriteStatus } from '../write-status.ts';
import { ifMissing } from './files.ts';
import { InboxFile } from './inbox-file.ts';
import { journalFile } from './journal-file.ts';
import { profileFile } from './profile-file.ts';
import { SnapshotFiles } from './snapshot-files.ts';

function memoryOnceSet(): OnceSet {
  const claims = new Map<string, number>();
  return {
    async claim(name, expiresAt) {
      const now = Date.now();
      for (const [claimed, until] of claims) if (until <= now) claims.delete(claimed);
      if (claims.has(name)) return false;
      claims.set(name, expiresAt);
      return true;
    },
  };
}

export interface LocalOptions {
  inbox?: InboxLimits;
  report?: ReportEvent;
}

/** Minimum interval between checks of files whose last write failed. */
const recheckMs = 5_000;

/** Health of the files: by their last write and, after a failed one, by checking them again. */
class LocalHealth {
  readonly writes: WriteStatus;
  #checking = false;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(report: ReportEvent | undefined) {
    this.writes = new WriteStatus(report);
  }

  now(): Health {
    const { failure } = this.writes;
    if (!failure) return { kind: 'local', ok: true, notes: [] };
    void this.#recheck();
    const notes = [
      `The last write failed (${failure.code}): nothing is written, and webhooks are rejected.`,
    ];
    return {
      kind: 'local',
      ok: false,
      fault: 'unwritable',
      since: failure.since.toISOString(),
      notes,
    };
  }

  async #recheck(): Promise<void> {
    if (this.#checking || performance.now() - this.#checkedAt < recheckMs) return;
    this.#checking = true;
    for (const path of this.writes.failing) {
      if (await isWritable(path)) this.writes.succeeded(path);
    }
    this.#checkedAt = performance.now();
    this.#checking = false;
  }
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
  const health = new LocalHealth(report);
  const bus = new LocalBus(report);
  const secret = randomBytes(32);
  /** Tenants of one namespace share an inbox, as long as one of them is open. */
  const inboxes = new WeakValues<Inbox>();
  const openInbox = (tenant: string): Inbox => {
    const path = join(folder, `events-${tenant}.jsonl`);
    const file = new InboxFile(path, limits, (update) => bus.notify(tenant, update));
    return health.writes.inbox(path, file);
  };
  return {
    rates: new MemoryRates(),
    once: memoryOnceSet(),
    bus,
    inbox: (tenant) => inboxes.getOrCreate(tenant, () => openInbox(tenant)),
    health: () => health.now(),
    secret: async () => secret,
    journal(tenant) {
      const path = join(folder, `changes-${tenant}.jsonl`);
      return health.writes.journal(path, journalFile(path));
    },
    profile: (tenant) => profileFile(join(folder, `service-${tenant}.json`)),
    snapshots: (tenant) => new SnapshotFiles(join(folder, `${snapshotPrefix}${tenant}`)),
    async snapshotTenants() {
      const entries = await readdir(folder, { withFileTypes: true }).catch(ifMissing<Dirent[]>([]));
      const folders = entries.filter((entry) => entry.isDirectory() && isSnapshots(entry.name));
      return folders.map(({ name }) => name.slice(snapshotPrefix.length)).sort();
    },
    runExclusive: (name, work) => mutex.runExclusive(name, work),
    close: async () => {},
  };
}
