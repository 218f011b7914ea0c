/** Opportunities, quotes and events as moments of one story. */
import type { CompanyData } from './main.tsx';
import type { Besides } from './use-besides.ts';

/** A row of `cpq_list_opportunities`. */
export interface OpportunityRow {
  id?: string;
  name?: string;
  companyId?: string;
  stage?: string;
  /** Absent while it is open. */
  outcome?: string;
  closes?: string;
}

/** A row of `cpq_list_events`. */
export interface EventRow {
  /** To the second, in UTC. */
  at: string;
  subject: string;
  event: string;
  id?: string;
  name?: string;
  changes?: string[];
}

export interface Moment {
  key: string;
  kind: 'Opportunity' | 'Quote' | 'Event';
  day: string | undefined;
  name: string;
  /** Stage, or status; of an event what happened. */
  state: string;
  /** What an event changed, a field each. */
  changes: readonly string[];
  tone: 'danger' | 'good' | 'plain';
  amounts: { amount: number; currency: string; per: string }[];
  late: boolean;
}

/** The latest first; what has no day stands last. */
export function momentsOf(data: CompanyData, { opportunities, events }: Besides): Moment[] {
  const open = data.open?.rows ?? [];
  const told = new Set(open.map(({ id }) => id));
  const others = opportunities.filter(({ id, outcome }) => !told.has(id) && outcome !== 'deleted');
  const moments = [
    // They come the latest first, and are the news of a day: sorting leaves both as it is.
    ...events.map(ofEvent),
    ...open.map((row) => ofOpen(row, data.today)),
    ...others.map((row) => ofRow(row, data.today)),
    ...(data.quotes?.rows ?? []).map(ofQuote),
  ];
  return moments.sort((a, b) => compare(b.day ?? '', a.day ?? ''));
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

type OpenRow = NonNullable<CompanyData['open']>['rows'][number];
type QuoteRow = NonNullable<CompanyData['quotes']>['rows'][number];

function ofOpen({ id, name, stage, closes, value, currency }: OpenRow, today: string): Moment {
  const amounts =
    value === undefined ? [] : [{ amount: value, currency: currency ?? '', per: 'value' }];
  return { ...ofRow({ id, name, stage, closes } as OpportunityRow, today), amounts };
}

function ofRow({ id, name, stage, outcome, closes }: OpportunityRow, today: string): Moment {
  const isOpen = outcome === undefined;
  const tones: Record<string, Moment['tone']> = { won: 'good', lost: 'danger' };
  return {
    key: `opportunity ${id}`,
    kind: 'Opportunity',
    day: closes,
    name: name ?? id ?? 'Unnamed',
    state: isOpen ? (stage ?? 'open') : outcome.replaceAll('_', ', '),
    tone: tones[outcome ?? ''] ?? 'plain',
    changes: [],
    amounts: [],
    late: isOpen && closes !== undefined && closes < today,
  };
}

function ofQuote(row: QuoteRow): Moment {
  const { id, number, name, status, created, currency, oneTime, monthly, yearly } = row;
  const sums: [number | undefined, string][] = [
    [oneTime, 'one-time'],
    [monthly, 'monthly'],
    [yearly, 'yearly'],
  ];
  const tones: Record<string, Moment['tone']> = {
    approved: 'good',
    declined: 'danger',
    expired: 'danger',
  };
  return {
    key: `quote ${id}`,
    kind: 'Quote',
    day: created,
    name: [number, name].filter(Boolean).join(' · ') || (id ?? 'Unnamed'),
    state: status,
    tone: tones[status] ?? 'plain',
    changes: [],
    amounts: sums.flatMap(([amount, per]) =>
      amount === undefined ? [] : [{ amount, currency, per }],
    ),
    late: false,
  };
}

function ofEvent({ at, subject, event, id, name, changes = [] }: EventRow, index: number): Moment {
  return {
    key: `event ${index}`,
    kind: 'Event',
    day: at.slice(0, 10),
    name: name ?? id ?? 'Unnamed',
    state: `${subject} ${event}`.replaceAll('_', ' '),
    tone: 'plain',
    changes,
    amounts: [],
    late: false,
  };
}
