import { Big } from 'big.js';
import { numberIn, numbersIn, sumsBy } from './decimal.ts';
import { grouped, only } from './order.ts';
import type { Asked } from './pipeline.ts';
import { type Ask, currency, day, type SqlRow, text } from './sql.ts';

type Asking = 'owner' | 'company' | 'stage' | 'category' | 'source' | 'currency';
export type AskedChanges = Pick<Asked, Asking | 'close_from' | 'close_to' | 'min_value'>;

/** A deal at the end of a day, from the versions in the database. */
export interface DayDeal {
  id: string;
  outcome: string;
  currency: string;
  value: Big | undefined;
  probability: Big | undefined;
  closes: string | undefined;
  closed: string | undefined;
  /** The day on which it entered its stage. */
  entered: string | undefined;
  stageName: string | undefined;
  ids: Record<'owner' | 'company' | 'stage' | 'category' | 'source', string | undefined>;
}

const at = (path: string) => `json_extract(v.record, '$.${path}')`;
const dayAt = (path: string) => day(at(path));

/** The outcome of a closed deal is that of today, because none is reopened. */
const daySql = `select v.opportunityId as id,
    case when coalesce(${at('deletedAt')}, '') <> '' then 'deleted'
      when coalesce(${at('closedAt')}, '') = '' then 'open'
      when o.outcome = 'unknown' then 'closed_unknown' else o.outcome end as outcome,
    ${currency('c.currency')} as currency,
    ${at('onetimeRevenue')} as oneTime, ${at('monthlyRevenue')} as monthly, ${at('valueMonths')} as months,
    ${at('probability')} as probability,
    ${dayAt('expectedCloseDate')} as closes, ${dayAt('closedAt')} as closed,
    ${dayAt('stageUpdatedAt')} as entered, ${at('pipelineStage.name')} as stageName,
    ${at('owner.id')} as owner, ${at('company.id')} as company, ${at('pipelineStage.id')} as stage,
    ${at('category.id')} as category, ${at('source.id')} as source
  from opportunity_version v
  join opportunity o on o.tenant = v.tenant and o.id = v.opportunityId
  left join company c on c.tenant = v.tenant and c.id = ${at('company.id')}
  where v.tenant = ? and v.rowid = (
    select w.rowid from opportunity_version w
    where w.tenant = v.tenant and w.opportunityId = v.opportunityId and w.at <= ?
    order by w.at desc, w.rowid desc limit 1)`;

export function dealsOn(ask: Ask, day: string): Map<string, DayDeal> {
  const rows = ask(daySql, `${day}T23:59:59.999Z`);
  return new Map(rows.map((row) => [String(row.id), dealOf(row)]));
}

function dealOf(row: SqlRow): DayDeal {
  const { oneTime: once, monthly, months } = numbersIn(row, ['oneTime', 'monthly', 'months']);
  const ids = ['owner', 'company', 'stage', 'category', 'source'] as const;
  const recurring = monthly?.times(months?.gt(0) ? months : 12);
  return {
    id: String(row.id),
    outcome: String(row.outcome),
    currency: String(row.currency),
    value: once || recurring ? (once ?? new Big(0)).plus(recurring ?? 0) : undefined,
    probability: numberIn(row, 'probability'),
    closes: text(row, 'closes'),
    closed: text(row, 'closed'),
    entered: text(row, 'entered'),
    stageName: text(row, 'stageName'),
    ids: Object.fromEntries(ids.map((name) => [name, text(row, name)])) as DayDeal['ids'],
  };
}

export const inDays = ({ closes }: DayDeal, { close_from, close_to }: AskedChanges): boolean =>
  (close_from === undefined || (closes ?? '') >= close_from) &&
  (close_to === undefined || (closes ?? '9') <= close_to);

const names = ['owner', 'company', 'category', 'source'] as const;

export function fits(deal: DayDeal, asked: AskedChanges): boolean {
  const isWorthIt = asked.min_value === undefined || deal.value?.gte(asked.min_value) === true;
  const isInCurrency = asked.currency === undefined || asked.currency === deal.currency;
  return (
    isWorthIt &&
    isInCurrency &&
    names.every((name) => asked[name] === undefined || asked[name] === deal.ids[name])
  );
}

const fitsStage = (deal: DayDeal, { stage }: AskedChanges) =>
  stage === undefined || stage === deal.ids.stage;

/** A record on a day. */
interface Valued {
  id: string;
  currency: string;
  value: Big | undefined;
}

/** What a record adds to the open ones, or takes from them, by one step. */
export interface Entry extends Valued {
  step: string;
  value: Big;
}

export const cents = ({ value }: Pick<Valued, 'value'>): Big => (value ?? new Big(0)).round(2);

/** The expected comparison of two days, as defined in docs/definitions.md. */
export function expectedChanges(ask: Ask, from: string, to: string, asked: AskedChanges) {
  const [before, after] = [dealsOn(ask, from), dealsOn(ask, to)];
  const counts = (deal: DayDeal) =>
    deal.outcome === 'open' && fits(deal, asked) && fitsStage(deal, asked) && inDays(deal, asked);
  const entries = [...new Set([...before.keys(), ...after.keys()])].flatMap((id) =>
    entriesOf(before.get(id), after.get(id), from, asked, counts),
  );
  return {
    opening: totalOf([...before.values()].filter(counts)),
    closing: totalOf([...after.values()].filter(counts)),
    steps: stepsOf(entries),
  };
}

/** The number and value of each step. */
export const stepsOf = (entries: readonly Entry[]) =>
  Object.fromEntries(
    [...grouped(entries, ({ step }) => step)].map(([step, own]) => {
      const count = new Set(own.map(({ id }) => id)).size;
      return [step, { count, value: sumsBy(own, ({ value }) => value) }];
    }),
  );

export function totalOf(records: readonly Valued[]) {
  const known = records.filter(({ value }) => value);
  const unknownValue = records.length - known.length || undefined;
  return only({ count: records.length, value: sumsBy(known, cents), unknownValue });
}

/** The expected pipeline of each day; the probability scale is that of the first and the last day. */
export function expectedDays(ask: Ask, days: readonly string[], asked: AskedChanges) {
  const states = days.map((day) => [...dealsOn(ask, day).values()]);
  const ends = [states[0], states.at(-1)].flatMap((deals = []) => deals);
  const scale = ends.some(({ probability }) => probability?.gt(1)) ? 100 : 1;
  const counts = (deal: DayDeal) =>
    deal.outcome === 'open' && fits(deal, asked) && fitsStage(deal, asked) && inDays(deal, asked);
  return states.map((deals, at) => {
    const open = deals.filter(counts);
    const known = open.filter(
      ({ value, probability }) => value && probability?.gte(0) && probability.lte(scale),
    );
    const weighted = ({ value, probability }: DayDeal) =>
      (value ?? new Big(0)).times(probability ?? 0).div(scale);
    return only({ day: days[at], ...totalOf(open), weightedValue: sumsBy(known, weighted) });
  });
}

const ends: Record<string, string> = { won: 'won', lost: 'lost', closed_unknown: 'closedUnknown' };

function entriesOf(
  was: DayDeal | undefined,
  is: DayDeal | undefined,
  from: string,
  asked: AskedChanges,
  counts: (deal: DayDeal) => boolean,
): Entry[] {
  const wasIn = was && counts(was) ? was : undefined;
  const isIn = is && counts(is) ? is : undefined;
  if (wasIn && isIn) return differences(wasIn, isIn);
  if (wasIn) return gone(wasIn, is, asked);
  if (isIn) return [plus(entryOf(was, asked), isIn)];
  const end = is && ends[is.outcome];
  if (!end || !wouldCount(is, asked) || (was && was.outcome !== 'open')) return [];
  if (!was && is.closed && is.closed <= from) return [];
  return [plus(entryOf(was, asked), is), minus(end, is)];
}

export const plus = (step: string, { id, currency, value }: Valued): Entry => {
  return { step, id, currency, value: cents({ value }) };
};
export const minus = (step: string, record: Valued): Entry => ({
  ...plus(step, record),
  value: cents(record).times(-1),
});

const onlyTheDateIsOut = (deal: DayDeal, asked: AskedChanges): boolean =>
  fits(deal, asked) && fitsStage(deal, asked);

const wouldCount = (deal: DayDeal, asked: AskedChanges): boolean =>
  asked.stage === undefined && fits(deal, asked) && inDays(deal, asked);

function gone(was: DayDeal, is: DayDeal | undefined, asked: AskedChanges): Entry[] {
  if (!is || is.outcome === 'deleted') return [minus('removed', was)];
  const end = ends[is.outcome];
  if (end) return [...differences(was, is), minus(end, is)];
  return [minus(onlyTheDateIsOut(is, asked) ? 'movedOut' : 'transferredOut', was)];
}

function entryOf(was: DayDeal | undefined, asked: AskedChanges): string {
  if (was === undefined) return 'new';
  if (was.outcome !== 'open') return 'reopened';
  return onlyTheDateIsOut(was, asked) ? 'movedIn' : 'transferredIn';
}

function differences(was: DayDeal, is: DayDeal): Entry[] {
  const value = cents(is).minus(cents(was));
  if (value.eq(0)) return [];
  return [{ step: value.gt(0) ? 'valueUp' : 'valueDown', id: is.id, currency: is.currency, value }];
}
