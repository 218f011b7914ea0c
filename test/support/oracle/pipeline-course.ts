import { Big } from 'big.js';
import { rounded, sumsBy } from './decimal.ts';
import { byName, grouped, only } from './order.ts';
import { type AskedChanges, type DayDeal, fits, inDays, totalOf } from './pipeline-changes.ts';

/** The deals of each day, from the database. */
export type DealsOn = (day: string) => ReadonlyMap<string, DayDeal>;

/** The expected figures of a period, with every day observed, as defined in docs/definitions.md. */
export function expectedCourse(dealsOn: DealsOn, days: readonly string[], asked: AskedChanges) {
  const slips = new Map<string, number>();
  const exits: Exit[] = [];
  const last = new Map<string, DayDeal>();
  for (const day of days) {
    for (const [id, deal] of dealsOn(day)) {
      const before = last.get(id);
      last.set(id, deal);
      if (before?.outcome !== 'open') continue;
      const later = slipOf(before, deal);
      if (later > 0) slips.set(id, (slips.get(id) ?? 0) + 1);
      if (hasLeft(before, deal)) exits.push(exitOf(before, deal, day));
    }
  }
  const ends = [days[0], days.at(-1)].flatMap((day = '') => [...dealsOn(day).values()]);
  const matching = exits.filter(
    ({ after, from }) =>
      from !== undefined &&
      fits(after, asked) &&
      inDays(after, asked) &&
      (asked.stage ?? from) === from,
  );
  const closing = dealsOn(days.at(-1) ?? '');
  const scale = ends.some(({ probability }) => probability?.gt(1)) ? 1 : 100;
  return { slips, stages: stagesOf(matching, ranksOf(ends), { closing, scale }) };
}

const dayMs = 86_400_000;
const daysFrom = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs;

const slipOf = (before: DayDeal, after: DayDeal): number =>
  after.outcome === 'open' && before.closes && after.closes
    ? daysFrom(before.closes, after.closes)
    : 0;

interface Exit {
  from: string | undefined;
  name: string | undefined;
  after: DayDeal;
  stayed: number | undefined;
}

const hasLeft = (before: DayDeal, after: DayDeal): boolean =>
  after.outcome !== 'deleted' && (after.outcome !== 'open' || before.ids.stage !== after.ids.stage);

/**
 * The day on which it left its stage: when it entered the next one, else when it was closed, else when the change
 * was seen.
 */
function exitOf(before: DayDeal, after: DayDeal, seen: string): Exit {
  const { entered } = before;
  const moved = after.entered && (!entered || after.entered > entered) ? after.entered : undefined;
  const left = moved ?? after.closed ?? seen;
  const stayed = entered && left >= entered ? daysFrom(entered, left) : undefined;
  return { from: before.ids.stage, name: before.stageName, after, stayed };
}

function middle(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1] ?? 0, sorted[sorted.length >> 1] ?? 0];
  return (low + high) / 2;
}

/** Median probability of the open deals of each stage. */
function ranksOf(deals: readonly DayDeal[]): Map<string, number> {
  const most = deals.some(({ probability }) => probability?.gt(1)) ? 100 : 1;
  const counted = deals.filter(
    ({ outcome, ids, probability }) =>
      outcome === 'open' && ids.stage && probability?.gte(0) && probability.lte(most),
  );
  const stages = grouped(counted, ({ ids }) => ids.stage ?? '');
  return new Map(
    [...stages].map(([stage, own]) => [
      stage,
      middle(own.map(({ probability }) => Number(probability))),
    ]),
  );
}

/** The deals of the last day, and what makes percent of a probability. */
interface Present {
  closing: ReadonlyMap<string, DayDeal>;
  scale: number;
}

function stagesOf(exits: readonly Exit[], ranks: ReadonlyMap<string, number>, present: Present) {
  const stages = [...grouped(exits, ({ from }) => from ?? '')].map(([stage, own]) => ({
    rank: ranks.get(stage) ?? Number.POSITIVE_INFINITY,
    row: stageRow(stage, own, ranks, present),
  }));
  stages.sort((one, other) =>
    one.rank === other.rank ? byName(one.row, other.row) : one.rank < other.rank ? -1 : 1,
  );
  return stages.map(({ row }) => row);
}

function stageRow(
  stage: string,
  exits: readonly Exit[],
  ranks: ReadonlyMap<string, number>,
  { closing, scale }: Present,
) {
  const count = (is: (after: DayDeal) => boolean) => exits.filter(({ after }) => is(after)).length;
  const isBeyond = (one: string | undefined, other: string | undefined): boolean => {
    const [rank, reference] = [ranks.get(one ?? ''), ranks.get(other ?? '')];
    return rank !== undefined && reference !== undefined && rank > reference;
  };
  const forward = count(({ outcome, ids }) => outcome === 'open' && isBeyond(ids.stage, stage));
  const back = count(({ outcome, ids }) => outcome === 'open' && isBeyond(stage, ids.stage));
  const won = count(({ outcome }) => outcome === 'won');
  const lost = count(({ outcome }) => outcome === 'lost');
  const stays = exits.flatMap(({ stayed }) => stayed ?? []);
  const left = exits.length;
  const ids = [...new Set(exits.map(({ after }) => after.id))];
  const ended = (as: string) => ids.filter((id) => closing.get(id)?.outcome === as).length;
  const rank = ranks.get(stage);
  return only({
    name: exits[0]?.name,
    left,
    medianDays: stays.length > 0 ? Math.round(middle(stays)) : undefined,
    forward: forward || undefined,
    back: back || undefined,
    won: won || undefined,
    lost: lost || undefined,
    conversionPercent: shareOf(forward + won, lost),
    winRatePercent: shareOf(ended('won'), ended('lost')),
    probabilityPercent: rank === undefined ? undefined : rounded(new Big(rank).times(scale), 1),
  });
}

const shareOf = (some: number, others: number): number | undefined =>
  some + others < 5 ? undefined : rounded(new Big(some).times(100).div(some + others), 1);

const fates = ['won', 'lost', 'closedUnknown', 'stillOpen', 'removed'] as const;

/**
 * The expected forecast: what was expected on one day to close by another, and its outcome. `scale`: of the
 * probability.
 */
export function expectedForecast(
  dealsOn: DealsOn,
  [then, now]: readonly [string, string],
  scale: number,
  asked: AskedChanges,
) {
  const [before, after] = [dealsOn(then), dealsOn(now)];
  const isBetween = (day: string | undefined) => day !== undefined && then < day && day <= now;
  const expected = [...before.values()].filter(
    (deal) => deal.outcome === 'open' && fits(deal, asked) && isBetween(deal.closes),
  );
  const wonAs = (was: DayDeal | undefined, { closed }: DayDeal): string | undefined => {
    if (!was) return closed === undefined || closed > then ? 'wonNew' : undefined;
    if (was.outcome !== 'open' || expected.includes(was)) return undefined;
    if (!fits(was, asked)) return 'wonNew';
    if (was.closes === undefined) return 'wonUndated';
    return was.closes > now ? 'wonEarly' : 'wonLate';
  };
  const others = [...after.values()]
    .filter((deal) => deal.outcome === 'won' && fits(deal, asked))
    .flatMap((deal) => {
      const as = wonAs(before.get(deal.id), deal);
      return as === undefined ? [] : [{ as, deal }];
    });
  if (expected.length === 0 && others.length === 0) return [];
  const row = (deals: string, counted: readonly DayDeal[]) => {
    const { count, value } = totalOf(counted);
    return counted.length === 0 ? [] : [only({ deals, count, value })];
  };
  const weightedValue = sumsBy(expected, ({ value, probability }) =>
    probability?.gte(0) && probability.lte(scale)
      ? value?.times(probability).div(scale)
      : undefined,
  );
  const { count, value } = totalOf(expected);
  return [
    only({ deals: 'expected', count, value, weightedValue }),
    ...fates.flatMap((fate) => {
      const own = expected.filter(({ id }) => fateOf(after.get(id)) === fate);
      return row(fate, fate === 'removed' ? own : own.flatMap(({ id }) => after.get(id) ?? []));
    }),
    ...['wonLate', 'wonEarly', 'wonNew', 'wonUndated'].flatMap((as) =>
      row(
        as,
        others.filter((other) => other.as === as).map(({ deal }) => deal),
      ),
    ),
  ];
}

function fateOf(deal: DayDeal | undefined): (typeof fates)[number] {
  if (deal?.outcome === 'won' || deal?.outcome === 'lost') return deal.outcome;
  if (deal?.outcome === 'closed_unknown') return 'closedUnknown';
  return deal?.outcome === 'open' ? 'stillOpen' : 'removed';
}

/** The expected pushes of the deals that are open on the last day, by owner. */
export function expectedPushes(
  last: ReadonlyMap<string, DayDeal>,
  slips: ReadonlyMap<string, number>,
  atLeast: number,
  asked: AskedChanges,
) {
  const isIn = (deal: DayDeal) =>
    deal.outcome === 'open' &&
    fits(deal, asked) &&
    inDays(deal, asked) &&
    (asked.stage ?? deal.ids.stage) === deal.ids.stage;
  const open = [...last.values()].filter(isIn);
  const timesOf = ({ id }: DayDeal): number => slips.get(id) ?? 0;
  const pushedAmong = (deals: readonly DayDeal[]) =>
    deals.filter((deal) => timesOf(deal) >= atLeast);
  const figures = (deals: readonly DayDeal[]) => {
    const pushed = pushedAmong(deals);
    return only({
      open: deals.length,
      pushed: pushed.length,
      pushRatePercent:
        deals.length > 0
          ? rounded(new Big(pushed.length).times(100).div(deals.length), 1)
          : undefined,
      pushes: pushed.reduce((sum, deal) => sum + timesOf(deal), 0),
      pushedValue: totalOf(pushed).value,
    });
  };
  const groups = [...grouped(open, ({ ids }) => ids.owner ?? '').values()]
    .map((deals) => ({ row: figures(deals), pushed: pushedAmong(deals).length, deals }))
    .sort((one, other) => other.pushed - one.pushed || other.deals.length - one.deals.length)
    .map(({ row }) => row);
  const rows = pushedAmong(open)
    .map(({ id }) => id)
    .sort();
  return {
    pushes: { atLeast, ...figures(open) },
    groups,
    deals: { total: rows.length, shown: rows.length, rows },
  };
}
