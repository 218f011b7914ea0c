/** The changes of the pipeline by stage, owner and so on. */

import {
  missingLabels,
  type PipelineBy,
  referenceLabel,
} from '../briefs/pipeline/pipeline-groups.ts';
import { dayOf } from '../figures/days.ts';
import { collectGroups, groupKey, groupRows, monthOf } from '../figures/group-labels.ts';
import { type Amounts, CurrencySums, type Decimal, zero } from '../figures/money.ts';
import { byName, compact, type LimitedList, type Named } from '../figures/naming.ts';
import { flatMapSteps, type Steps } from '../figures/steps.ts';
import type { Opportunity } from '../service/records/records.ts';
import { isKeyOf } from '../values.ts';
import { centsOf, type Valued } from './movements.ts';
import type { DealChange, DealStep } from './pipeline-changes.ts';

/**
 * What a group shows: opening + new + won + lost + removed + moved + valueChanged = closing, by currency. `moved`: in
 * from other groups and periods, less out to them.
 */
type Figures = Partial<Record<Column, Amounts>>;
/** `groups`: number of groups merged into this one. */
export type ChangeGroup = Named & Figures & { groups?: number };

const columns = [
  'opening',
  'new',
  'won',
  'lost',
  'removed',
  'moved',
  'valueChanged',
  'closing',
] as const;
type Column = (typeof columns)[number];

const columnOf: Readonly<Record<DealStep, Column>> = {
  new: 'new',
  reopened: 'new',
  movedIn: 'moved',
  transferredIn: 'moved',
  valueUp: 'valueChanged',
  valueDown: 'valueChanged',
  currencyChanged: 'valueChanged',
  won: 'won',
  lost: 'lost',
  closedUnknown: 'removed',
  removed: 'removed',
  movedOut: 'moved',
  transferredOut: 'moved',
};

/** What a deal adds to a group. */
interface Part {
  label: Named;
  amounts: [column: Column, currency: string, amount: Decimal][];
}

const labelOf = (record: Opportunity, by: PipelineBy): Named =>
  by === 'close_month'
    ? compact({ name: monthOf(dayOf(record.expectedCloseDate)) })
    : referenceLabel(record, by);

function partsOf({ was, is, after, effects }: DealChange, by: PipelineBy): Part[] {
  const amount = (column: Column, state: Valued): Part['amounts'][number] => [
    column,
    state.currency,
    centsOf(state),
  ];
  const opening = was ? [amount('opening', was)] : [];
  const closing = is ? [amount('closing', is)] : [];
  const from = was && labelOf(was.record, by);
  const to = is && labelOf(is.record, by);
  if (was && is && from && to && groupKey(from) !== groupKey(to)) {
    return [
      { label: from, amounts: [...opening, ['moved', was.currency, zero.minus(centsOf(was))]] },
      { label: to, amounts: [...closing, amount('moved', is)] },
    ];
  }
  const label = to ?? from ?? (after && labelOf(after.record, by));
  const steps = effects.flatMap(({ step, currency, amount }): Part['amounts'] =>
    isKeyOf(columnOf, step) ? [[columnOf[step], currency, amount]] : [],
  );
  return label ? [{ label, amounts: [...opening, ...steps, ...closing] }] : [];
}

function sumsOf(parts: readonly Part[], column: Column): CurrencySums {
  const sums = new CurrencySums();
  for (const { amounts } of parts)
    for (const [of, currency, amount] of amounts) if (of === column) sums.add(currency, amount);
  return sums;
}

const figuresOf = (parts: readonly Part[]): Figures =>
  compact(Object.fromEntries(columns.map((column) => [column, sumsOf(parts, column).toAmounts()])));

/**
 * Groups with the most value on either day first, months in time order; those beyond `limit` become a last row,
 * "N others".
 */
export function* changeGroups(
  changes: readonly DealChange[],
  by: PipelineBy,
  limit: number,
): Steps<LimitedList<ChangeGroup>> {
  const parts = yield* flatMapSteps(changes, (change) => partsOf(change, by));
  const ranked = collectGroups(parts, ({ label }) => label)
    .map((group) => {
      const [opening, closing] = [sumsOf(group.items, 'opening'), sumsOf(group.items, 'closing')];
      return { ...group, largest: Math.max(opening.largest, closing.largest) };
    })
    .sort((one, other) => other.largest - one.largest || byName(one.label, other.label));
  const shown = ranked.slice(0, ranked.length === limit + 1 ? ranked.length : limit);
  if (by === 'close_month') shown.sort((one, other) => byName(one.label, other.label));
  const groups = [...shown, ...ranked.slice(shown.length)];
  return yield* groupRows(groups, { limit, missing: missingLabels[by], figuresOf });
}
