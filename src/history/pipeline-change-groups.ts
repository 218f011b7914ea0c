/** The changes of the pipeline by stage, owner and so on. */

import {
  missingLabels,
  type PipelineBy,
  referenceLabel,
} from '../briefs/pipeline/pipeline-groups.ts';
import { dayOf } from '../figures/days.ts';
import {
  collectGroups,
  groupKey,
  groupRows,
  monthOf,
  rankGroups,
} from '../figures/group-labels.ts';
import { type Amounts, CurrencySums, type Decimal, zero } from '../figures/money.ts';
import { byName, compact, type LimitedList, type Named } from '../figures/naming.ts';
import { flatMapSteps, type Steps } from '../figures/steps.ts';
import type { Opportunity } from '../service/records/records.ts';
import { centsOf, type Step } from './movements.ts';
import type { DealChange } from './pipeline-changes.ts';

/**
 * What a group shows: opening + new + won + lost + removed + moved + valueChanged = closing, by currency. `moved`: in
 * from other groups and periods, less out to them.
 */
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
type Figures = Partial<Record<Column, Amounts>>;

/** The column of a step; that of the others is `moved`. */
const columnOf: Partial<Record<Step, Column>> = {
  new: 'new',
  reopened: 'new',
  valueUp: 'valueChanged',
  valueDown: 'valueChanged',
  currencyChanged: 'valueChanged',
  won: 'won',
  lost: 'lost',
  closedUnknown: 'removed',
  removed: 'removed',
};

/** What a deal adds to a column of a group. */
interface Part {
  label: Named;
  column: Column;
  currency: string;
  amount: Decimal;
}

const labelOf = (record: Opportunity, by: PipelineBy): Named =>
  by === 'close_month'
    ? compact({ name: monthOf(dayOf(record.expectedCloseDate)) })
    : referenceLabel(record, by);

function partsOf({ was, is, after, effects }: DealChange, by: PipelineBy): Part[] {
  const from = was && labelOf(was.record, by);
  const to = is && labelOf(is.record, by);
  const isMoved = from && to && groupKey(from) !== groupKey(to);
  const label = to ?? from ?? (after ? labelOf(after.record, by) : {});
  const part = (column: Column, state: typeof was, inGroup = label): Part[] =>
    state ? [{ label: inGroup, column, currency: state.currency, amount: centsOf(state) }] : [];
  const steps = isMoved
    ? [...part('moved', is), ...part('moved', was, from).map(negated)]
    : effects.map(({ step, ...effect }) => ({
        label,
        column: columnOf[step] ?? 'moved',
        ...effect,
      }));
  return [...part('opening', was, isMoved ? from : label), ...steps, ...part('closing', is)];
}

const negated = (part: Part): Part => ({ ...part, amount: zero.minus(part.amount) });

function sumsOf(parts: readonly Part[], of: Column): CurrencySums {
  const sums = new CurrencySums();
  for (const { column, currency, amount } of parts) if (column === of) sums.add(currency, amount);
  return sums;
}

const figuresOf = (parts: readonly Part[]): Figures =>
  compact(Object.fromEntries(columns.map((column) => [column, sumsOf(parts, column).toAmounts()])));

/** Groups with the most value on either day first, months in time order; those beyond `limit` become "N others". */
export function* changeGroups(
  changes: readonly DealChange[],
  by: PipelineBy,
  limit: number,
): Steps<LimitedList<Named & Figures & { groups?: number }>> {
  const parts = yield* flatMapSteps(changes, (change) => partsOf(change, by));
  const groups = collectGroups(parts, ({ label }) => label);
  const ordered =
    by === 'close_month'
      ? groups.sort((one, other) => byName(one.label, other.label))
      : rankGroups(groups, (items) => [
          Math.max(sumsOf(items, 'opening').largest, sumsOf(items, 'closing').largest),
        ]);
  return yield* groupRows(ordered, { limit, missing: missingLabels[by], figuresOf });
}
