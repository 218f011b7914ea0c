import type { ComponentChildren } from 'preact';
import { Select, Switch } from '../shell/parts.tsx';
import { profitSwitch } from '../shell/profit.ts';
import { useNarrow } from '../shell/use-narrow.ts';
import type { Attention, CardOrder, ColumnsBy, Filter, Measure } from './deals.ts';

export interface Settings {
  layout: 'board' | 'table';
  by: ColumnsBy;
  order: CardOrder;
  measure: Measure;
  filter: Filter;
}

interface Props {
  settings: Settings;
  set(settings: Settings): void;
  /** The choice of an owner. */
  owners: ComponentChildren;
  /** Whether the host lets the view read cards; the groups of the answer can be measured only. */
  hasCards: boolean;
  /** Absent where the host lets views call no tools. */
  profit: { on: boolean; set(on: boolean): unknown } | undefined;
}

const columns = [
  ['stage', 'Stage'],
  ['owner', 'Owner'],
  ['month', 'Month'],
] as const;
const revenues = [
  ['value', 'Contract value'],
  ['oneTime', 'One-time'],
  ['monthly', 'Monthly'],
] as const;
const layouts = [
  ['board', 'Board'],
  ['table', 'Table'],
] as const;
const orders = [
  ['value', 'Largest first'],
  ['closes', 'Closing first'],
  ['idle', 'Longest unchanged first'],
] as const;

const attentions: readonly [Attention | '', string][] = [
  ['', 'All'],
  ['overdue', 'Overdue'],
  ['closing', 'Closing soon'],
  ['stalled', 'Stalled'],
];

/** On a narrow page they are folded away, because the charts come first there. */
export function Controls({ settings, set, owners, hasCards, profit }: Props) {
  const isNarrow = useNarrow();
  const { layout, by, order, measure, filter } = settings;
  const change = (part: Partial<Settings>) => set({ ...settings, ...part });
  const narrow = (part: Partial<Filter>) => change({ filter: { ...filter, ...part } });
  const amount = (
    <Select
      label="Amount"
      options={revenues}
      value={measure.revenue}
      choose={(revenue) => change({ measure: { ...measure, revenue } })}
    />
  );
  const weighted = (
    <Switch
      text="Weighted"
      on={measure.weighted}
      set={(on) => change({ measure: { ...measure, weighted: on } })}
    />
  );
  if (!hasCards)
    return (
      <div class="controls">
        {amount}
        {weighted}
      </div>
    );
  const grouping = (
    <Select label="Columns" options={columns} value={by} choose={(it) => change({ by: it })} />
  );
  const sorting = (
    <Select label="Sort" value={order} options={orders} choose={(it) => change({ order: it })} />
  );
  const isBoard = layout === 'board';
  const fields = (
    <search class="controls" aria-label="Board options">
      <Select
        label="Show as"
        options={layouts}
        value={layout}
        choose={(it) => change({ layout: it })}
      />
      {isBoard && grouping}
      {amount}
      {isBoard && sorting}
      {owners}
      <Select
        label="Deals"
        value={filter.attention}
        options={attentions}
        choose={(attention) => narrow({ attention })}
      />
      <label class="field">
        <span>Find</span>
        <input
          type="search"
          value={filter.text}
          placeholder="Name or company"
          onInput={({ currentTarget }) => narrow({ text: currentTarget.value })}
        />
      </label>
      <div class="switches">
        {weighted}
        {profit && <Switch text={profitSwitch} on={profit.on} set={profit.set} />}
      </div>
    </search>
  );
  return isNarrow ? (
    <details class="options">
      <summary>Filter, sort and group</summary>
      {fields}
    </details>
  ) : (
    fields
  );
}
