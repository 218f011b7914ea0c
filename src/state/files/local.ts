import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isOneOf } from '../../values.ts';
import { localBus } from '../bus.ts';
import { exclusiveRunner } from '../lock.ts';
import { MemoryRates } from '../memory-rates.ts';
import {
  defaultInboxLimits,
  type Inbox,
  type InboxLimits,
  type ReportEvent,
  type SnapshotStore,
  type State,
  storedKinds,
} from '../port.ts';
import { shortHash } from '../short-hash.ts';
import { writeStatus } from '../write-status.ts';
import { fileCollections, markOutdated } from './collections.ts';
import { ifMissing, replaceFile, syncFolder, tryLock } from './files.ts';
import { InboxFile } from './inbox-file.ts';
import { journalFile } from './json-files.ts';

export interface LocalOptions {
  inbox?: InboxLimits;
  report?: ReportEvent;
}

/**
 * Kind and tenant in the name of a file or folder, or of a draft that a killed process left. Excludes a copy that somebody
 * keeps beside it, as `history-….bak`.
 */
const storedName = /^(changes|events|history|collections)-([\w-]+)(?:\.jsonl(?:\.\d+\.draft)?)?$/;

/** State of one process: in memory, with the journal, the inbox and the snapshots in files of `folder`. */
export function localState(folder: string, options: LocalOptions = {}): State {
  const { inbox: limits = defaultInboxLimits, report } = options;
  const writes = writeStatus({ report });
  const bus = localBus(report, (...changed) => markOutdated(folder, ...changed));
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
    collections: fileCollections(folder, writeStatus({ report })),
    inbox: (tenant) => inboxes.get(tenant)?.deref() ?? openInbox(tenant),
    health: () => writes.health('local'),
    secret: async () => secret,
    journal(tenant) {
      const path = join(folder, `changes-${tenant}.jsonl`);
      return writes.journal(path, journalFile(path));
    },
    snapshots: (tenant) => snapshotFiles(join(folder, `history-${tenant}`)),
    async stored() {
      const names = await readdir(folder).catch(ifMissing<string[]>([]));
      return names.sort().flatMap((name) => {
        const [, kind, tenant] = storedName.exec(name) ?? [];
        const place = join(folder, name);
        return tenant && isOneOf(storedKinds, kind) ? [{ tenant, kind, place }] : [];
      });
    },
    async remove(parts) {
      for (const { place } of parts) await rm(place, { recursive: true, force: true });
    },
    // Several hosts on one machine may each start a server with the same folder.
    runExclusive: exclusiveRunner((name) => tryLock(join(folder, `${shortHash(name)}.lock`))),
    close: async () => {},
  };
}

const isName = /^[a-z0-9-]+$/;

/** Snapshots in a folder, one file for each name, readable by their owner only. */
function snapshotFiles(folder: string): SnapshotStore {
  const list = () => readdir(folder).catch(ifMissing<string[]>([]));
  /** @throws RangeError for a name that could lead out of the folder */
  const pathOf = (name: string) => {
    if (!isName.test(name)) throw new RangeError(`not the name of a snapshot: ${name}`);
    return join(folder, name);
  };
  return {
    names: async () => (await list()).filter((file) => isName.test(file)).sort(),
    read: async (name) => readFile(pathOf(name)).catch(ifMissing(undefined)),
    async write(name, value) {
      const path = pathOf(name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(path, value);
      await syncFolder(folder);
    },
    async remove(names) {
      for (const name of names) await rm(pathOf(name), { force: true });
      // Drafts were left by a process that was killed.
      for (const file of await list())
        if (file.endsWith('.draft')) await rm(join(folder, file), { force: true });
      if ((await list()).length === 0) await rmdir(folder).catch(() => {}); // Written to meanwhile.
    },
  };
}
