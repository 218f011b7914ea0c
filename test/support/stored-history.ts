import { StoredSnapshots } from '../../src/history/history.ts';
import {
  opportunitySnapshots,
  type PricedQuote,
  quoteSnapshots,
} from '../../src/history/snapshots.ts';
import type { Opportunity } from '../../src/service/records/records.ts';
import type { SnapshotStore } from '../../src/state/port.ts';

/** The stored snapshots of the opportunities of a tenant, at any time. */
export class StoredHistory extends StoredSnapshots<Opportunity> {
  constructor(store: SnapshotStore, keepDays: number, now?: () => Date) {
    super(opportunitySnapshots, store, keepDays, now);
  }
}

/** The same of its quotes. */
export class StoredQuoteHistory extends StoredSnapshots<PricedQuote> {
  constructor(store: SnapshotStore, keepDays: number, now?: () => Date) {
    super(quoteSnapshots, store, keepDays, now);
  }
}
