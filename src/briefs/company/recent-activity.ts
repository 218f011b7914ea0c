/** Recent activity: the newest event of each record, from its timestamps. */

import { addDays, type Day, dayOf } from '../../figures/days.ts';
import {
  byName,
  compact,
  compare,
  contactName,
  nonBlank,
  quoteName,
} from '../../figures/naming.ts';
import { type Outcome, outcomeOf } from '../../figures/outcome.ts';
import type { ApiRecord, Contact, Opportunity, Quote } from '../../service/records/records.ts';
import { keysOf } from '../../values.ts';

type RecentChangeKind = 'company' | 'contact' | 'opportunity' | 'quote';

export interface RecentChange {
  day: Day;
  kind: RecentChangeKind;
  /** created, updated, stage changed, won, lost, closed, sent, approved, declined, expired. */
  what: string;
  id?: string;
  name?: string;
}

/** Events by rising importance: of two on one day, the later in this list is reported. */
type TimedEvents = readonly (readonly [what: string, time: string | undefined])[];

const outcomeWords: Readonly<Record<Outcome, string>> = {
  won: 'won',
  lost: 'lost',
  closed_unknown: 'closed',
  open: 'closed',
  deleted: 'deleted',
};

const eventsOf = {
  company: (record: ApiRecord): TimedEvents => [['created', record.createdAt]],
  contact: (record: ApiRecord): TimedEvents => [['created', record.createdAt]],
  opportunity: (record: Opportunity): TimedEvents => [
    ['created', record.createdAt],
    ['stage changed', record.stageUpdatedAt],
    [outcomeWords[outcomeOf(record)], record.closedAt],
  ],
  quote: (record: Quote): TimedEvents => [
    ['created', record.createdAt],
    ['sent', record.sentAt],
    ['approved', record.approvedAt],
    ['declined', record.declinedAt],
    ['expired', record.expiredAt],
  ],
};

/** The records of one account that may have changed. */
export interface AccountRecords {
  company: readonly ApiRecord[];
  contact: readonly Contact[];
  opportunity: readonly Opportunity[];
  quote: readonly Quote[];
}

/** One event per record, over the days up to today, newest first, then by name and id. */
export function recentChanges(account: AccountRecords, today: Day, days: number): RecentChange[] {
  const from = addDays(today, -days);
  const changes = keysOf(eventsOf).flatMap((kind) =>
    account[kind].flatMap((record) => newestChange(kind, record, from, today) ?? []),
  );
  return changes.sort((a, b) => compare(b.day, a.day) || byName(a, b) || compare(a.kind, b.kind));
}

/** "Updated" is the least specific event, so it is reported only if there is no other. */
function newestChange(
  kind: RecentChangeKind,
  record: ApiRecord,
  from: Day,
  to: Day,
): RecentChange | undefined {
  const found =
    newestEvent(eventsOf[kind](record), from, to) ??
    newestEvent([['updated', record.updatedAt]], from, to);
  return found && compact({ ...found, kind, id: nonBlank(record.id), name: nameFor(kind, record) });
}

function newestEvent(
  events: TimedEvents,
  from: Day,
  to: Day,
): { day: Day; what: string } | undefined {
  let found: { day: Day; what: string } | undefined;
  for (const [what, time] of events) {
    const day = dayOf(time);
    if (day && from <= day && day <= to && (!found || day >= found.day)) found = { day, what };
  }
  return found;
}

const nameFor = (kind: RecentChangeKind, record: ApiRecord): string | undefined =>
  kind === 'quote' ? quoteName(record) : contactName(record);
