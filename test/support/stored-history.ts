import { storedSnapshots } from '../../src/history/history.ts';
import { opportunitySnapshots, quoteSnapshots } from '../../src/history/snapshots.ts';
import type { SnapshotStore } from '../../src/state/port.ts';

export type StoredHistory = ReturnType<typeof storedHistory>;

/** The stored snapshots of the opportunities of a tenant, at any time. */
export const storedHistory = (
  store: SnapshotStore,
  keepDays: number,
  now?: () => Date,
  owner?: string,
) => storedSnapshots(opportunitySnapshots, store, keepDays, owner, now);

/** The same of its quotes. */
export const storedQuoteHistory = (
  store: SnapshotStore,
  keepDays: number,
  now?: () => Date,
  owner?: string,
) => storedSnapshots(quoteSnapshots, store, keepDays, owner, now);
