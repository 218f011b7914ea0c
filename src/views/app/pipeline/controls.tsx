import type { ComponentChildren } from 'preact';
import { Segments, Select, Switch } from '../shell/parts.tsx';
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
  profit: { on: boolean; set(on: boolean): void } | undefined;
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

export const attentions: readonly [Attention | '', string][] = [
  ['', 'All'],
  ['overdue', 'Overdue'],
  ['closing', 'Closing soon'],
  ['stalled', 'Stalled'],
];

/** On a narrow page they are folded away, because the charts come first there. */
export function Controls(props: Props) {
  const isNarrow = useNarrow();
  if (!props.hasCards) {
    return (
      <div class="controls">
        <AmountChoice {...props} />
        <WeightedSwitch {...props} />
      </div>
    );
  }
  const fields = <Fields {...props} />;
  if (!isNarrow) return fields;
  return (
    <details class="options">
      <summary>Filter, sort and group</summary>
      {fields}
    </details>
  );
}

function Fields(props: Props) {
  const { settings, set, profit } = props;
  const { layout, by, order } = settings;
  const change = (part: Partial<Settings>) => set({ ...settings, ...part });
  return (
    <search class="controls" aria-label="Board options">
      <Segments
        label="Show as"
        options={layouts}
        value={layout}
        choose={(it) => change({ layout: it })}
      />
      {layout === 'board' && (
        <Segments
          label="Columns"
          options={columns}
          value={by}
          choose={(it) => change({ by: it })}
        />
      )}
      <AmountChoice settings={settings} set={set} />
      {layout === 'board' && (
        <Select
          label="Sort"
          value={order}
          options={orders}
          choose={(it) => change({ order: it })}
        />
      )}
      <FilterFields {...props} />
      <div class="switches">
        <WeightedSwitch settings={settings} set={set} />
        {profit && <Switch text={profitSwitch} on={profit.on} set={profit.set} />}
      </div>
    </search>
  );
}

type MeasureProps = Pick<Props, 'settings' | 'set'>;

function AmountChoice({ settings, set }: MeasureProps) {
  const { measure } = settings;
  return (
    <Segments
      label="Amount"
      options={revenues}
      value={measure.revenue}
      choose={(revenue) => set({ ...settings, measure: { ...measure, revenue } })}
    />
  );
}

function WeightedSwitch({ settings, set }: MeasureProps) {
  const { measure } = settings;
  return (
    <Switch
      text="Weighted"
      on={measure.weighted}
      set={(weighted) => set({ ...settings, measure: { ...measure, weighted } })}
    />
  );
}

function FilterFields({ settings, set: setAll, owners }: Props) {
  const { filter } = settings;
  const set = (changed: Filter) => setAll({ ...settings, filter: changed });
  return (
    <>
      {owners}
      <Select
        label="Deals"
        value={filter.attention}
        options={attentions}
        choose={(attention) => set({ ...filter, attention })}
      />
      <label class="field">
        <span>Find</span>
        <input
          type="search"
          value={filter.text}
          placeholder="Name or company"
          onInput={({ currentTarget }) => set({ ...filter, text: currentTarget.value })}
        />
      </label>
    </>
  );
}
