/** Opportunities, quotes and events as items of one timeline. */

import { outcomeTones, quoteName, stateOf, stateTones } from '../records/entries.ts';
import type { CompanyData, EventRow, OpportunityRow, RelatedData } from './data.ts';

export interface TimelineItem {
  key: string;
  /** Of the record; an event has none that could be opened. */
  id: string | undefined;
  kind: 'Opportunity' | 'Quote' | 'Event';
  day: string | undefined;
  name: string;
  /** The stage, the status, or what an event reported. */
  state: string;
  /** The changes of an event, one per field. */
  changes: readonly string[];
  tone: 'danger' | 'good' | 'plain';
  amounts: readonly { amount: number; currency: string; per: string }[];
  /** An opportunity that is neither won nor lost. */
  isOpen: boolean;
  isLate: boolean;
}

/** Newest first; items without a day come last. */
export function timelineItems(
  data: CompanyData,
  { opportunities, events }: RelatedData,
): TimelineItem[] {
  const read = opportunities.filter(({ deleted }) => deleted === undefined);
  const readIds = new Set(read.map(({ id }) => id));
  const reported = (data.open?.rows ?? []).filter(({ id }) => !readIds.has(id));
  const items = [
    // Events arrive newest first and lead their day; the sort is stable and keeps that.
    ...events.map(eventItem),
    ...reported.map((row) => opportunityItem(row, data.today)),
    ...read.map((row) => opportunityItem(row, data.today)),
    ...(data.quotes?.rows ?? []).map(quoteItem),
  ];
  return items.sort((a, b) => compare(b.day ?? '', a.day ?? ''));
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

type QuoteRow = NonNullable<CompanyData['quotes']>['rows'][number];

/** A closed opportunity is on the day on which it was closed, as far as that is known. */
function opportunityItem(row: OpportunityRow, today: string): TimelineItem {
  const { id, name, stage, outcome = 'open', closes, closed, currency = '' } = row;
  const isOpen = outcome === 'open';
  return {
    key: `opportunity ${id}`,
    id,
    kind: 'Opportunity',
    day: isOpen ? closes : (closed ?? closes),
    name: name ?? id ?? 'Unnamed',
    state: isOpen ? (stage ?? 'open') : outcome.replaceAll('_', ', '),
    tone: outcomeTones[outcome] ?? 'plain',
    changes: [],
    amounts: amountsOf({ ...row, currency }),
    isOpen,
    isLate: isOpen && closes !== undefined && closes < today,
  };
}

interface Revenues {
  value?: number | undefined;
  oneTime?: number | undefined;
  monthly?: number | undefined;
  yearly?: number;
  currency: string;
}

/** The amounts that are not 0, each with how often it is due. */
function amountsOf({ currency, ...row }: Revenues): TimelineItem['amounts'] {
  const terms = [
    ['value', 'contract value'],
    ['oneTime', 'one-time'],
    ['monthly', 'monthly'],
    ['yearly', 'yearly'],
  ] as const;
  return terms.flatMap(([term, per]) => {
    const amount = row[term];
    return amount ? [{ amount, currency, per }] : [];
  });
}

/** What is no opportunity is neither open nor late. */
const settled = { tone: 'plain', changes: [], amounts: [], isOpen: false, isLate: false } as const;

const quoteItem = (row: QuoteRow): TimelineItem => ({
  ...settled,
  key: `quote ${row.id}`,
  id: row.id,
  kind: 'Quote',
  day: row.created,
  name: quoteName(row),
  state: stateOf(row),
  tone: stateTones[stateOf(row)] ?? 'plain',
  amounts: amountsOf(row),
});

const eventItem = (
  { at, subject, event, id, name, changes = [] }: EventRow,
  index: number,
): TimelineItem => ({
  ...settled,
  key: `event ${index}`,
  id: undefined,
  kind: 'Event',
  day: at.slice(0, 10),
  name: name ?? id ?? 'Unnamed',
  state: `${subject} ${event}`.replaceAll('_', ' '),
  changes,
});

/** The next day on which an open opportunity is expected to close. */
export const nextClosing = (items: readonly TimelineItem[], today: string): string | undefined =>
  items.findLast(({ isOpen, day }) => isOpen && day !== undefined && day >= today)?.day;
