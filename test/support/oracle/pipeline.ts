import { Big } from 'big.js';
import type { Deal, Ref } from './deals.ts';
import { bigSumsBy, percentages, rounded, sumsBy } from './decimal.ts';
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
  source?: string;
  currency?: string;
  groups?: number;
  outcome?: string;
  show?: readonly string[];
  target?: number;
  rates?: string;
}

type Reported = Record<string, unknown>;

/** The expected brief of the pipeline, as defined in docs/definitions.md. */
export function expectedPipeline(
  deals: readonly Deal[],
  today: string,
  requested: Asked,
): Reported {
  const { outcome = 'open', by = outcome === 'open' ? 'stage' : 'owner' } = requested;
  const wide = deals
    .map((deal) => inRate(deal, requested))
    .filter((deal) => passes(deal, requested));
  const deleted = wide.filter(({ outcome }) => outcome === 'deleted').length;
  const same = { today, by, closed: closedOf(wide, today, requested), ...counts({ deleted }) };
  if (outcome !== 'open') return { ...same, outcome, ...closedFigures(wide, today, by, requested) };
  const open = openAmong(wide, requested);
  const weightedOf = (amount: (deal: Deal) => Big | undefined) =>
    sumsBy(open, (deal) => weighted(amount(deal), deal));
  return only({
    ...same,
    open: only({
      count: open.length,
      countByCurrency: countByCurrency(open),
      ...sums(open, requested.show),
      weightedOneTime: weightedOf(({ oneTime }) => oneTime),
      weightedMonthly: weightedOf(({ monthly }) => monthly),
    }),
    groups: groupsOf(open, by, requested, today),
    ...lists(open, today, requested),
    ...salesOf(open, closedWithin(wide, today, requested), today, requested),
    unknown: unknownCounts(open, wide),
  });
}

function closedFigures(
  wide: readonly Deal[],
  today: string,
  by: string,
  requested: Asked,
): Reported {
  const within = closedWithin(wide, today, requested);
  const { revenue, valueMonths, currency } = unknownOfOpen(within);
  return only({
    groups: groupsOf(within, by, requested, today),
    ...salesOf(openAmong(wide, requested), within, today, requested),
    unknown: counts({ revenue, valueMonths, currency, closedAt: undatedAmong(wide) }),
  });
}

/** The filters that apply to deals of every outcome. */
function passes(deal: Deal, requested: Asked): boolean {
  const { owner, company, category, source, currency, min_value } = requested;
  if (currency !== undefined && deal.currency.toLowerCase() !== currency) return false;
  const worthIt = min_value === undefined || deal.value?.gte(min_value) === true;
  const named = is(deal.owner, owner) && is(deal.company, company);
  return worthIt && named && is(deal.category, category) && is(deal.source, source);
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

function valued(deals: readonly Deal[], show: readonly string[] = []): Reported {
  const profit = show.includes('profit') ? sumsBy(deals, (deal) => deal.profit) : undefined;
  return only({
    value: sumsBy(deals, ({ value }) => value),
    weightedValue: sumsBy(deals, (deal) => weighted(deal.value, deal)),
    profit,
    withoutProfit: profit && (number(deals, (deal) => !deal.profit) || undefined),
  });
}

export const sums = (deals: readonly Deal[], show: readonly string[] = []): Reported =>
  only({
    ...valued(deals, show),
    oneTime: sumsBy(deals, ({ oneTime }) => oneTime),
    monthly: sumsBy(deals, ({ monthly }) => monthly),
  });

/** Where there are several currencies. */
export function countByCurrency(deals: readonly Deal[]): Record<string, number> | undefined {
  const groups = [...grouped(deals, ({ currency }) => currency)];
  const counts = groups.map(([currency, same]) => [currency, same.length]);
  return counts.length < 2 ? undefined : Object.fromEntries(counts);
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
  return counts({ ...unknownOfOpen(open), closedAt: undatedAmong(wide) });
}

const undatedAmong = (wide: readonly Deal[]): number =>
  number(wide, ({ outcome, closed }) => closedOutcomes.includes(outcome) && !closed);

function lists(open: readonly Deal[], today: string, requested: Asked): Reported {
  const shown = requested.rows ?? 2;
  const after = requested.stalled_days ?? 30;
  const ids = (deals: readonly Deal[], rowOf: (deal: Deal) => Reported) => ({
    total: deals.length,
    ...valued(deals, requested.show),
    shown: Math.min(shown, deals.length),
    rows: deals.slice(0, shown).map(rowOf),
  });
  // As many rows as are shown without being asked for say less.
  const rowOfClosing = (deal: Deal) => ({
    ...(shown > 2 ? rowWithChance : rowOfDeal)(deal, requested),
    closes: deal.closes,
  });
  const rowOfStalled = (deal: Deal) => ({
    ...(shown > 2 ? rowWithOwner : rowOfDeal)(deal, requested),
    idleDays: deal.idleDays,
  });
  return {
    overdue: ids(
      open.filter(({ closes }) => closes && closes < today),
      rowOfClosing,
    ),
    closingSoon: {
      from: today,
      to: later(today, 30),
      ...ids(
        open.filter(({ closes, daysUntilClose: it }) => closes && it >= 0 && it <= 30),
        rowOfClosing,
      ),
    },
    stalled: {
      afterDays: after,
      ...ids(
        open.filter(({ lastChange, idleDays }) => lastChange && idleDays >= after),
        rowOfStalled,
      ),
    },
  };
}

function rowWithChance(deal: Deal, requested: Asked): Reported {
  const amount = weighted(deal.value, deal);
  const weightedValue = amount && rounded(amount);
  const probability = deal.probability?.toNumber();
  return only({ ...rowWithOwner(deal, requested), weightedValue, probability });
}

const rowWithOwner = (deal: Deal, requested: Asked): Reported =>
  only({ ...rowOfDeal(deal, requested), owner: deal.owner.name ?? deal.owner.id });

/** The amounts in the row of a deal. */
export function rowOfDeal({ id, value, currency, ...deal }: Deal, { show = [] }: Asked): Reported {
  const profit = show.includes('profit') ? deal.profit : undefined;
  return only({
    id,
    value: value && rounded(value),
    currency: value || profit ? currency : undefined,
    profit: profit && rounded(profit),
  });
}

export function later(day: string, days: number): string {
  const at = new Date(`${day}T00:00:00Z`);
  at.setUTCDate(at.getUTCDate() + days);
  return at.toISOString().slice(0, 10);
}

function periodOf(today: string, { period_from, period_to = today }: Asked) {
  return { from: period_from ?? later(period_to, -90), to: period_to };
}

/** The deals closed in the period: won, lost or unknown. */
export function closedWithin(wide: readonly Deal[], today: string, requested: Asked): Deal[] {
  const { from, to } = periodOf(today, requested);
  const closed = wide.filter(({ outcome }) => closedOutcomes.includes(outcome));
  return closed.filter(({ closed }) => closed && closed >= from && closed <= to);
}

function closedOf(wide: readonly Deal[], today: string, requested: Asked): Reported {
  const within = closedWithin(wide, today, requested);
  const { won, lost, outcomeUnknown } = outcomes(within, requested.show);
  return only({
    ...periodOf(today, requested),
    won: only({ ...won, daysToClose: days(within, 'won') }),
    lost: only({ ...lost, daysToClose: days(within, 'lost') }),
    outcomeUnknown,
    countByCurrency: countByCurrency(within),
    ...rates(within),
  });
}

/** Average days until deals ended with this outcome. */
function days(deals: readonly Deal[], wanted: string): number | undefined {
  const known = deals.flatMap(({ outcome, daysToClose }) =>
    outcome === wanted && daysToClose !== undefined ? [daysToClose] : [],
  );
  const sum = known.reduce((sum, days) => sum + days, 0);
  return known.length === 0 ? undefined : rounded(new Big(sum).div(known.length), 0);
}

/** Number and value of deals by outcome. */
export function outcomes(
  deals: readonly Deal[],
  show: readonly string[] = [],
): Record<string, Reported> {
  const of = (wanted: string) => {
    const these = deals.filter(({ outcome }) => outcome === wanted);
    const { value, profit, withoutProfit } = valued(these, show);
    const withoutValue = number(these, (deal) => !deal.value) || undefined;
    return only({ count: these.length, value, withoutValue, profit, withoutProfit });
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
  return only({
    winRatePercent:
      both.length === 0 ? undefined : percent(new Big(won.length), new Big(both.length)),
    winRatePercentByValue: percentages(wins, alls),
  });
}

const percent = (part: Big, whole: Big): number => rounded(part.div(whole).times(100), 1);

interface Group extends Ref {
  /** The record that the group's deals share; empty for deals without one. */
  ref: Ref;
  deals: Deal[];
}

function groupsOf(deals: readonly Deal[], by: string, requested: Asked, today: string): Reported {
  const isOpen = (requested.outcome ?? 'open') === 'open';
  const label = (deal: Deal) => refOf(deal, by, isOpen ? today : undefined);
  const groups = [...grouped(deals, (deal) => keyOf(label(deal))).values()].map((its) =>
    groupOf(its, label, by),
  );
  const ending = requested.outcome === 'lost' ? 'lost' : 'won';
  const counting = ({ outcome }: Deal) => isOpen || outcome === ending;
  const ranked = inOrder.includes(by) ? groups.sort(byMonth) : groups.sort(byRank(counting));
  const most = requested.groups ?? 24;
  const shown = ranked.length <= most + 1 ? ranked : ranked.slice(0, most);
  const rest = ranked.filter((group) => !shown.includes(group));
  const figures = (its: readonly Deal[]) =>
    isOpen ? openFigures(its, requested) : endedFigures(its, requested);
  return {
    shown: shown.length,
    total: ranked.length,
    rows: [
      ...shown.map((group) => ({ ...titleOf(group, ranked), ...figures(group.deals) })),
      ...(rest.length === 0 ? [] : [othersOf(rest, figures)]),
    ],
  };
}

const inOrder = ['close_month', 'close_quarter', 'band', 'size'];
const places = [
  ...['overdue', 'commit (75 % or more)', 'best case (50 to under 75 %)', 'pipeline (under 50 %)'],
  ...['under 1,000', '1,000 to under 10,000', '10,000 to under 25,000', '25,000 to under 100,000'],
  ...['100,000 and more', 'months', 'no close date', 'no probability', 'no value'],
];

/** Orders months: overdue first, deals without a month last; bands as they are listed. */
function byMonth({ name: one = '' }: Group, { name: other = '' }: Group): number {
  const place = (name: string) => places.indexOf(places.includes(name) ? name : 'months');
  return place(one) - place(other) || compare(one, other);
}

function byRank(counting: (deal: Deal) => boolean) {
  const of = ({ deals }: Group) => deals.filter(counting);
  return (one: Group, other: Group): number =>
    largest(of(other)).cmp(largest(of(one))) ||
    of(other).length - of(one).length ||
    byName(one.ref, other.ref);
}

function largest(deals: readonly Deal[]): Big {
  const sums = [...bigSumsBy(deals, ({ value }) => value).values()];
  return sums.reduce((most, sum) => (sum.gt(most) ? sum : most), new Big(0));
}

function refOf(deal: Deal, by: string, today: string | undefined): Ref {
  if (by === 'band') return { name: deal.probability && bandOf(deal.probability) };
  if (by === 'size') return { name: deal.value && sizeOf(deal.value) };
  if (!by.startsWith('close_')) return deal[by as 'stage'];
  const span = (day: string | undefined) =>
    by === 'close_month' || !day
      ? day?.slice(0, 7)
      : `${day.slice(0, 4)}-Q${{ '0': 1, '1': 2, '2': 3, '3': 4 }[String(Math.trunc((Number(day.slice(5, 7)) - 1) / 3))]}`;
  if (today === undefined) return { name: span(deal.closed) };
  const { closes } = deal;
  return { name: closes && closes < today ? 'overdue' : span(closes) };
}

function bandOf(probability: Big): string | undefined {
  if (probability.gte(0.75)) return places[1];
  return probability.gte(0.5) ? places[2] : places[3];
}

const sizeOf = (value: Big): string | undefined =>
  places[5 + [1_000, 10_000, 25_000, 100_000].filter((limit) => value.gte(limit)).length - 1];

/** The deal in the currency of the rate that was given for its own, such as `CAD=0.73 USD`. */
function inRate(deal: Deal, { rates }: Asked): Deal {
  const [from, rate = '', to = ''] = rates?.split(/[= ]/) ?? [];
  if (deal.currency !== from) return deal;
  const times = (amount: Big | undefined) => amount?.times(rate);
  const { oneTime, monthly, value, profit } = deal;
  return {
    ...deal,
    currency: to,
    oneTime: times(oneTime),
    monthly: times(monthly),
    value: times(value),
    profit: times(profit),
  };
}

const meanValue = (deals: readonly Deal[]) => {
  const known = deals.filter(({ value }) => value);
  const means = [...bigSumsBy(known, ({ value }) => value)].map(([currency, sum]) => [
    currency,
    rounded(sum.div(known.filter((deal) => deal.currency === currency).length)),
  ]);
  return means.length > 0 ? Object.fromEntries(means) : undefined;
};

/** The figures on request, as defined in docs/definitions.md. */
function salesOf(
  open: readonly Deal[],
  closed: readonly Deal[],
  today: string,
  { show = [], target, currency }: Asked,
): Reported {
  const won = closed.filter(({ outcome }) => outcome === 'won');
  const perDay = [...new Set(closed.map((deal) => deal.currency))].flatMap((code) => {
    const own = (deals: readonly Deal[]) => deals.filter((deal) => deal.currency === code);
    const known = own(won).flatMap(({ value }) => value ?? []);
    const days = own(won).flatMap(({ daysToClose }) => daysToClose ?? []);
    const ended = own(won).length + own(closed).filter(({ outcome }) => outcome === 'lost').length;
    const cycle = days.reduce((sum, one) => sum + one, 0);
    if (known.length === 0 || cycle === 0) return [];
    const sum = known.reduce((all, one) => all.plus(one), new Big(0));
    const fraction = sum.times(own(open).length).times(own(won).length).times(days.length);
    return [[code, rounded(fraction.div(known.length * ended * cycle))] as const];
  });
  const velocity = only({
    averageOpen: meanValue(open),
    averageWon: meanValue(won),
    perDay: perDay.length > 0 ? Object.fromEntries(perDay) : undefined,
  });
  return only({
    target: target === undefined ? undefined : targetOf(open, won, { today, target, currency }),
    velocity: show.includes('velocity') ? velocity : undefined,
  });
}

function targetOf(
  open: readonly Deal[],
  won: readonly Deal[],
  { today, target, currency }: { today: string; target: number; currency: string | undefined },
): Reported {
  const mainCurrency = (deals: readonly Deal[]): string | undefined =>
    [...grouped(deals, (deal) => deal.currency)].sort(
      ([a, some], [b, others]) => others.length - some.length || compare(a, b),
    )[0]?.[0];
  const code =
    currency?.toUpperCase() ?? mainCurrency(open) ?? mainCurrency(won) ?? 'unknown currency';
  const sum = (deals: readonly Deal[], amount = ({ value }: Deal) => value) =>
    bigSumsBy(deals, amount).get(code) ?? new Big(0);
  const gap = new Big(target).minus(sum(won));
  const likely = sum(open, (deal) => weighted(deal.value, deal));
  const inIt = (amount: Big) => ({ [code]: rounded(amount) });
  return only({
    target: inIt(new Big(target)),
    won: inIt(sum(won)),
    gap: inIt(gap),
    open: inIt(sum(open)),
    overdue: inIt(sum(open.filter(({ closes }) => closes && closes < today))),
    coverage: gap.gt(0) ? rounded(sum(open).div(gap)) : undefined,
    weightedValue: inIt(likely),
    gapAfterWeighted: inIt(gap.minus(likely)),
    inOtherCurrencies: number(open, (deal) => deal.currency !== code) || undefined,
    wonInOtherCurrencies: number(won, (deal) => deal.currency !== code) || undefined,
    wonWithoutValue: number(won, (deal) => !deal.value) || undefined,
  });
}

const keyOf = ({ id, name }: Ref): string =>
  id === undefined ? `name ${name?.trim().toLowerCase() ?? ''}` : `id ${id}`;

const without = (by: string) =>
  `no ${by
    .replace(/close_.*/, 'close date')
    .replace('band', 'probability')
    .replace('size', 'value')}`;

function groupOf(deals: Deal[], label: (deal: Deal) => Ref, by: string): Group {
  const [ref = {}] = deals.map(label).sort(byName);
  return ref.id === undefined && ref.name === undefined
    ? { name: without(by), ref, deals }
    : { ...ref, ref, deals };
}

function titleOf({ id, name }: Group, all: readonly Group[]): Reported {
  const same = all.filter(
    (group) => group.name?.trim().toLowerCase() === name?.trim().toLowerCase(),
  );
  return only({ id: name !== undefined && same.length === 1 ? undefined : id, name });
}

const othersOf = (
  rest: readonly Group[],
  figures: (deals: readonly Deal[]) => Reported,
): Reported => ({
  name: `${rest.length} others`,
  ...figures(rest.flatMap(({ deals }) => deals)),
  groups: rest.length,
});

function openFigures(deals: readonly Deal[], { show, by = 'stage' }: Asked): Reported {
  const staying = deals.filter(({ stageUpdated }) => stageUpdated);
  const days = staying.reduce((sum, { daysInStage }) => sum + daysInStage, 0);
  const dated = deals.filter(({ created }) => created);
  const age = dated.reduce((sum, { daysOld }) => sum + daysOld, 0);
  return only({
    count: deals.length,
    ...sums(deals, show),
    ageDays:
      by === 'stage' || dated.length === 0 ? undefined : rounded(new Big(age).div(dated.length), 0),
    daysInStage: staying.length === 0 ? undefined : rounded(new Big(days).div(staying.length), 0),
  });
}

function endedFigures(deals: readonly Deal[], { show = [] }: Asked): Reported {
  const of = (wanted: string) => deals.filter(({ outcome }) => outcome === wanted);
  const [won, lost] = [of('won'), of('lost')];
  return only({
    won: won.length,
    wonValue: sumsBy(won, ({ value }) => value),
    wonProfit: show.includes('profit') ? sumsBy(won, ({ profit }) => profit) : undefined,
    daysToWin: days(deals, 'won'),
    lost: lost.length,
    lostValue: sumsBy(lost, ({ value }) => value),
    daysToLose: days(deals, 'lost'),
    ...counts({ outcomeUnknown: of('closed_unknown').length }),
    ...rates(deals),
  });
}
