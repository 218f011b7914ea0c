/** What happened lately: for each record, the newest thing that its time stamps tell. */
import type { ApiRecord, Contact, Opportunity, Quote } from '../api/records.ts';
import { addDays, type Day, dayOf } from './days.ts';
import { byName, compact, compare, contactName, filled, quoteName } from './naming.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

export type ChangeKind = 'company' | 'contact' | 'opportunity' | 'quote';

export interface Change {
  day: Day;
  kind: ChangeKind;
  /** created, updated, stage changed, won, lost, closed, sent, approved, declined, expired. */
  what: string;
  id?: string;
  name?: string;
}

/** What happened and when, the more telling later: of two on one day the later one is told. */
type Events = readonly (readonly [what: string, time: string | undefined])[];

const outcomeWords: Readonly<Record<Outcome, string>> = {
  won: 'won',
  lost: 'lost',
  closed_unknown: 'closed',
  open: 'closed',
  deleted: 'deleted',
};

const eventsOf = {
  company: (record: ApiRecord): Events => [['created', record.createdAt]],
  contact: (record: ApiRecord): Events => [['created', record.createdAt]],
  opportunity: (record: Opportunity): Events => [
    ['created', record.createdAt],
    ['stage changed', record.stageUpdatedAt],
    [outcomeWords[outcomeOf(record)], record.closedAt],
  ],
  quote: (record: Quote): Events => [
    ['created', record.createdAt],
    ['sent', record.sentAt],
    ['approved', record.approvedAt],
    ['declined', record.declinedAt],
    ['expired', record.expiredAt],
  ],
};

/** The records of one account that may have changed. */
export interface Account {
  company: readonly ApiRecord[];
  contact: readonly Contact[];
  opportunity: readonly Opportunity[];
  quote: readonly Quote[];
}

/** One change a record, over the days up to today, newest first, then by name and id. */
export function changesLately(account: Account, today: Day, days: number): Change[] {
  const from = addDays(today, -days);
  const changes = (Object.keys(eventsOf) as ChangeKind[]).flatMap((kind) =>
    account[kind].flatMap((record) => newest(kind, record, from, today) ?? []),
  );
  return changes.sort((a, b) => compare(b.day, a.day) || byName(a, b) || compare(a.kind, b.kind));
}

/** "Updated" says least, so it is told only where nothing else happened. */
function newest(kind: ChangeKind, record: ApiRecord, from: Day, to: Day): Change | undefined {
  const found =
    newestOf(eventsOf[kind](record), from, to) ??
    newestOf([['updated', record.updatedAt]], from, to);
  return found && compact({ ...found, kind, id: filled(record.id), name: nameFor(kind, record) });
}

function newestOf(events: Events, from: Day, to: Day): { day: Day; what: string } | undefined {
  let found: { day: Day; what: string } | undefined;
  for (const [what, time] of events) {
    const day = dayOf(time);
    if (day && from <= day && day <= to && (!found || day >= found.day)) found = { day, what };
  }
  return found;
}

function nameFor(kind: ChangeKind, record: ApiRecord): string | undefined {
  if (kind === 'contact') return contactName(record);
  return kind === 'quote' ? quoteName(record) : filled(record.name);
}
