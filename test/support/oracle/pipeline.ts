import { Big } from 'big.js';
import type { Deal, Ref } from './deals.ts';
import { bigSumsBy, rounded, sumsBy } from './decimal.ts';
import { byName, compare, counts, descending, grouped, only } from './order.ts';

export interface Asked {
  by?: string;
  owner?: string;
  company?: string;
  stage?: string;
  category?: string;
  close_from?: string;
  close_to?: string;
  min_value?: number;
  period_from?: string;
  period_to?: string;
  stalled_days?: number;
  rows?: number;
}

type Reported = Record<string, unknown>;

/** The figures of a brief on the pipeline, by the definitions. */
export function expectedPipeline(
  deals: readonly Deal[],
  today: string,
  requested: Asked,
): Reported {
  const wide = deals.filter((deal) => passes(deal, requested));
  const open = openAmong(wide, requested);
  const unknown = unknownCounts(open, wide);
  return only({
    today,
    by: requested.by ?? 'stage',
    open: only({ count: open.length, ...sums(open) }),
    groups: groupsOf(open, requested),
    ...lists(open, today, requested),
    closed: closedOf(wide, today, requested),
    unknown,
    deleted: counts({ all: deals.filter(({ outcome }) => outcome === 'deleted').length })?.all,
  });
}

/** The filters that narrow deals of every outcome. */
function passes(deal: Deal, { owner, company, category, min_value }: Asked): boolean {
  const worthIt = min_value === undefined || deal.value?.gte(min_value) === true;
  return (
    worthIt && is(deal.owner, owner) && is(deal.company, company) && is(deal.category, category)
  );
}

/** The open deals, largest first. */
export function openAmong(wide: readonly Deal[], { stage, close_from, close_to }: Asked): Deal[] {
  return wide
    .filter(({ outcome }) => outcome === 'open')
    .filter((deal) => is(deal.stage, stage))
    .filter(({ closes }) => close_from === undefined || (closes ?? '') >= close_from)
    .filter(({ closes }) => close_to === undefined || (closes ?? '9') <= close_to)
    .sort((one, other) => descending(one.value, other.value) || byName(one, other));
}

function is(ref: Ref, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  const name = wanted.trim().toLowerCase();
  if (name === '') return false;
  return ref.id === wanted.trim() || ref.name?.trim().toLowerCase() === name;
}

const weighted = (amount: Big | undefined, { probability }: Deal): Big | undefined =>
  amount && probability && amount.times(probability);

export function sums(deals: readonly Deal[]): Reported {
  return only({
    oneTime: sumsBy(deals, ({ oneTime }) => oneTime),
    monthly: sumsBy(deals, ({ monthly }) => monthly),
    weightedOneTime: sumsBy(deals, (deal) => weighted(deal.oneTime, deal)),
    weightedMonthly: sumsBy(deals, (deal) => weighted(deal.monthly, deal)),
  });
}

const number = (deals: readonly Deal[], is: (deal: Deal) => unknown): number =>
  deals.filter((deal) => is(deal)).length;

export function unknownOfOpen(open: readonly Deal[]) {
  return {
    revenue: number(open, ({ oneTime, monthly }) => !oneTime && !monthly),
    probability: number(open, ({ probability }) => !probability),
    valueMonths: number(open, ({ monthly, hasMonths }) => monthly && !monthly.eq(0) && !hasMonths),
    currency: number(open, ({ currency }) => currency === 'unknown currency'),
    createdAt: number(open, ({ created }) => !created),
    stageUpdatedAt: number(open, ({ stageUpdated }) => !stageUpdated),
    expectedCloseDate: number(open, ({ closes }) => !closes),
    lastChange: number(open, ({ lastChange }) => !lastChange),
  };
}

const closedOutcomes = ['won', 'lost', 'closed_unknown'];

function unknownCounts(open: readonly Deal[], wide: readonly Deal[]) {
  const closed = wide.filter(({ outcome }) => closedOutcomes.includes(outcome));
  return counts({ ...unknownOfOpen(open), closedAt: number(closed, ({ closed }) => !closed) });
}

function lists(open: readonly Deal[], today: string, requested: Asked): Reported {
  const shown = requested.rows ?? 2;
  const after = requested.stalled_days ?? 30;
  const ids = (deals: readonly Deal[]) => ({
    total: deals.length,
    ...only({ value: sumsBy(deals, ({ value }) => value) }),
    shown: Math.min(shown, deals.length),
    rows: deals.slice(0, shown).map((deal) =>
      only({
        id: deal.id,
        value: deal.value && rounded(deal.value),
        currency: deal.value && deal.currency,
      }),
    ),
  });
  return {
    overdue: ids(open.filter(({ closes }) => closes && closes < today)),
    closingSoon: {
      until: later(today, 30),
      ...ids(
        open.filter(({ closes, daysToClose }) => closes && daysToClose >= 0 && daysToClose <= 30),
      ),
    },
    stalled: {
      afterDays: after,
      ...ids(open.filter(({ lastChange, idleDays }) => lastChange && idleDays >= after)),
    },
  };
}

export function later(day: string, days: number): string {
  const at = new Date(`${day}T00:00:00Z`);
  at.setUTCDate(at.getUTCDate() + days);
  return at.toISOString().slice(0, 10);
}

function closedOf(wide: readonly Deal[], today: string, requested: Asked): Reported {
  const to = requested.period_to ?? today;
  const from = requested.period_from ?? later(to, -90);
  const within = wide.filter(({ closed }) => closed && closed >= from && closed <= to);
  return { from, to, ...outcomes(within), ...rates(within) };
}

/** How many deals ended how, and their value. */
export function outcomes(deals: readonly Deal[]): Record<string, Reported> {
  const of = (wanted: string) => {
    const these = deals.filter(({ outcome }) => outcome === wanted);
    return only({ count: these.length, value: sumsBy(these, ({ value }) => value) });
  };
  const unknown = of('closed_unknown');
  const known = { won: of('won'), lost: of('lost') };
  return unknown.count === 0 ? known : { ...known, outcomeUnknown: unknown };
}

function rates(deals: readonly Deal[]): Reported {
  const won = deals.filter(({ outcome }) => outcome === 'won');
  const both = [...won, ...deals.filter(({ outcome }) => outcome === 'lost')];
  const wins = bigSumsBy(won, ({ value }) => value);
  const alls = bigSumsBy(both, ({ value }) => value);
  const byValue = [...alls]
    .filter(([, all]) => all.gt(0))
    .map(([currency, all]) => [currency, percent(wins.get(currency) ?? new Big(0), all)]);
  return only({
    winRateByCount:
      both.length === 0 ? undefined : percent(new Big(won.length), new Big(both.length)),
    winRateByValue: byValue.length === 0 ? undefined : Object.fromEntries(byValue),
  });
}

const percent = (part: Big, whole: Big): number => rounded(part.div(whole).times(100), 1);

interface Group extends Ref {
  deals: Deal[];
}

function groupsOf(open: readonly Deal[], requested: Asked): Reported {
  const by = requested.by ?? 'stage';
  const ranked = rankedGroups(open, by);
  const most = by === 'stage' ? 8 : 5;
  const all = ranked.length <= most + 1;
  const first = all ? ranked : ranked.slice(0, most);
  if (by === 'close_month') first.sort(byMonth);
  const rest = all ? [] : ranked.slice(most);
  return {
    shown: first.length,
    total: ranked.length,
    rows: [...first.map((group) => rowOf(group, ranked)), ...(all ? [] : [othersOf(rest)])],
  };
}

/** Months in their order, deals without one last. */
const byMonth = ({ name: one = '' }: Group, { name: other = '' }: Group): number =>
  Number(one.startsWith('no ')) - Number(other.startsWith('no ')) || compare(one, other);

function rankedGroups(open: readonly Deal[], by: string): Group[] {
  const groups = [...grouped(open, (deal) => keyOf(deal, by))].map(([, deals]) =>
    groupOf(deals, by),
  );
  return groups.sort(
    (one, other) =>
      largest(other.deals).cmp(largest(one.deals)) ||
      other.deals.length - one.deals.length ||
      byName(one, other),
  );
}

function largest(deals: readonly Deal[]): Big {
  const sums = [...bigSumsBy(deals, ({ value }) => value).values()];
  return sums.reduce((most, sum) => (sum.gt(most) ? sum : most), new Big(0));
}

function refOf(deal: Deal, by: string): Ref {
  if (by === 'close_month') return { name: deal.closes?.slice(0, 7) };
  return deal[by as 'stage'];
}

function keyOf(deal: Deal, by: string): string {
  const { id, name } = refOf(deal, by);
  return id === undefined ? `name ${name?.trim().toLowerCase() ?? ''}` : `id ${id}`;
}

const without = (by: string) => `no ${by.replace('_', ' ').replace('close month', 'close date')}`;

function groupOf(deals: Deal[], by: string): Group {
  const [ref = {}] = deals.map((deal) => refOf(deal, by)).sort(byName);
  return ref.id === undefined && ref.name === undefined
    ? { name: without(by), deals }
    : { ...ref, deals };
}

function rowOf({ id, name, deals }: Group, all: readonly Group[]): Reported {
  const same = all.filter(
    (group) => group.name?.trim().toLowerCase() === name?.trim().toLowerCase(),
  );
  const reported = name !== undefined && same.length === 1;
  return only({ id: reported ? undefined : id, name, ...figures(deals) });
}

const othersOf = (rest: readonly Group[]): Reported => ({
  name: `${rest.length} others`,
  ...figures(rest.flatMap(({ deals }) => deals)),
  groups: rest.length,
});

function figures(deals: readonly Deal[]): Reported {
  const [oldest] = deals
    .filter(({ created }) => created)
    .sort((one, other) => compare(one.created, other.created) || byName(one, other));
  const staying = deals.filter(({ stageUpdated }) => stageUpdated);
  const days = staying.reduce((sum, { daysInStage }) => sum + daysInStage, 0);
  return only({
    count: deals.length,
    ...sums(deals),
    oldest: oldest && { id: oldest.id, days: oldest.daysOld },
    averageDaysInStage:
      staying.length === 0 ? undefined : rounded(new Big(days).div(staying.length), 0),
  });
}
