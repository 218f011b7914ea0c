/** Open deals in ranked groups; small groups are merged so that the sums still add up. */
import type { Opportunity } from '../records/records.ts';
import { type Day, dayOf, daysSince } from './days.ts';
import { type Deal, DealSums, type WeightedAmounts } from './deals.ts';
import {
  byName,
  compact,
  compare,
  groupBy,
  type LimitedList,
  type Named,
  nonBlank,
  normaliseName,
} from './naming.ts';

export const pipelineBy = [
  'stage',
  'owner',
  'company',
  'category',
  'source',
  'close_month',
] as const;

export type PipelineBy = (typeof pipelineBy)[number];

/** Amounts by currency; days are whole days. The id is present where the name is not unique. */
export interface PipelineGroup extends Named, WeightedAmounts {
  count: number;
  /** Creation day of the oldest open deal. */
  oldest?: Named & { days: number };
  /** Mean days since the last stage change, over the deals for which it is known. */
  averageDaysInStage?: number;
  /** Number of groups merged into this one. */
  groups?: number;
}

interface Oldest {
  created: Day;
  deal: Opportunity;
}

class Group {
  readonly sums = new DealSums();
  label: Named;
  stageDays = 0;
  stageDaysKnown = 0;
  oldest: Oldest | undefined;

  constructor(label: Named) {
    this.label = label;
  }

  add(deal: Deal, today: Day): void {
    const { record } = deal;
    this.sums.add(deal);
    const created = dayOf(record.createdAt);
    if (created) this.considerOldest({ created, deal: record });
    const staged = dayOf(record.stageUpdatedAt);
    if (!staged) return;
    this.stageDays += daysSince(staged, today);
    this.stageDaysKnown += 1;
  }

  merge(other: Group): void {
    this.sums.merge(other.sums);
    if (other.oldest) this.considerOldest(other.oldest);
    this.stageDays += other.stageDays;
    this.stageDaysKnown += other.stageDaysKnown;
  }

  considerOldest(candidate: Oldest): void {
    const { oldest } = this;
    if (!oldest || byAge(candidate, oldest) < 0) this.oldest = candidate;
  }
}

const byAge = (a: Oldest, b: Oldest): number =>
  compare(a.created, b.created) || byName(a.deal, b.deal);

const missingLabels: Readonly<Record<PipelineBy, string>> = {
  stage: 'no stage',
  owner: 'no owner',
  company: 'no company',
  category: 'no category',
  source: 'no source',
  close_month: 'no close date',
};

const refOf = {
  stage: (deal: Opportunity) => deal.pipelineStage,
  owner: (deal: Opportunity) => deal.owner,
  company: (deal: Opportunity) => deal.company,
  category: (deal: Opportunity) => deal.category,
  source: (deal: Opportunity) => deal.source,
} as const;

const monthLength = 'YYYY-MM'.length;

/** The group of a deal: an id with its name, a month, or none. */
function labelOf(deal: Opportunity, by: PipelineBy): Named {
  if (by === 'close_month')
    return compact({ name: dayOf(deal.expectedCloseDate)?.slice(0, monthLength) });
  const ref = refOf[by](deal);
  return compact({ id: nonBlank(ref?.id), name: nonBlank(ref?.name) });
}

const keyOf = (label: Named): string =>
  label.id ? `id ${label.id}` : `name ${normaliseName(label.name)}`;

/** One name per id: the first in alphabetical order, independent of record order. */
function mergeLabel(group: Group, label: Named): void {
  if (byName(label, group.label) < 0) group.label = label;
}

/**
 * Groups deals by the id of what `by` returns, or by its name if it has no id. Ranked by the largest value in
 * one currency, then by count, name and id; groups beyond `limit` become a last row, "N others". Months are
 * ranked the same way and shown in calendar order.
 */
export function groupDeals(
  deals: readonly Deal[],
  by: PipelineBy,
  today: Day,
  limit: number,
): LimitedList<PipelineGroup> {
  const ranked = collectGroups(deals, by, today).sort(byRank);
  const cut = ranked.length === limit + 1 ? ranked.length : limit;
  const shown = ranked.slice(0, cut);
  if (by === 'close_month') shown.sort(byMonth);
  const isUnclear = sharedNames(ranked);
  const rows = shown.map((group) => toRow(labelled(group, by, isUnclear), group, today));
  const others = ranked.slice(cut);
  if (others.length > 0) rows.push(foldedRow(others, today));
  return { shown: shown.length, total: ranked.length, rows };
}

function collectGroups(deals: readonly Deal[], by: PipelineBy, today: Day): Group[] {
  const groups = new Map<string, Group>();
  for (const deal of deals) {
    const label = labelOf(deal.record, by);
    const key = keyOf(label);
    const group = groups.get(key) ?? new Group(label);
    groups.set(key, group);
    mergeLabel(group, label);
    group.add(deal, today);
  }
  return [...groups.values()];
}

const byRank = (a: Group, b: Group): number =>
  b.sums.value.largest - a.sums.value.largest ||
  b.sums.count - a.sums.count ||
  byName(a.label, b.label);

const byMonth = (a: Group, b: Group): number => byName(a.label, b.label);

/** Names that several groups share. */
function sharedNames(groups: readonly Group[]): ReadonlySet<string> {
  const byFold = groupBy(groups, ({ label }) => normaliseName(label.name));
  return new Set([...byFold].flatMap(([name, same]) => (same.length > 1 ? name : [])));
}

/** Adds the id only where the name is not unique: it is a third of a row, and filters accept names too. */
function labelled({ label }: Group, by: PipelineBy, unclear: ReadonlySet<string>): Named {
  if (!label.name) return label.id ? { id: label.id } : { name: missingLabels[by] };
  return unclear.has(normaliseName(label.name)) ? label : { name: label.name };
}

function foldedRow(others: readonly Group[], today: Day): PipelineGroup {
  const folded = new Group({});
  for (const group of others) folded.merge(group);
  const name = `${others.length} others`;
  return { ...toRow({ name }, folded, today), groups: others.length };
}

function toRow(label: Named, group: Group, today: Day): PipelineGroup {
  const { oldest, stageDays, stageDaysKnown, sums } = group;
  return compact({
    ...label,
    count: sums.count,
    ...sums.weighted(),
    oldest: oldest && {
      ...compact({ id: nonBlank(oldest.deal.id), name: nonBlank(oldest.deal.name) }),
      days: daysSince(oldest.created, today),
    },
    averageDaysInStage: stageDaysKnown > 0 ? Math.round(stageDays / stageDaysKnown) : undefined,
  });
}
