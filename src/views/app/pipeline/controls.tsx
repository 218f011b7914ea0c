import type { OpenDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import { useFormats } from '../shell/format.ts';
import { Segments, Switch } from '../shell/parts.tsx';
import { profitSwitch } from '../shell/profit.ts';
import { useNarrow } from '../shell/use-narrow.ts';
import {
  type Attention,
  type CardOrder,
  type ColumnsBy,
  cardOrders,
  type Filter,
  type Measure,
  noOwner,
} from './deals.ts';

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
  deals: readonly OpenDeal[];
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
const orders: readonly [CardOrder, string][] = [
  ['value', cardOrders.value],
  ['closes', cardOrders.closes],
  ['idle', cardOrders.idle],
];

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

function Fields({ settings, set, deals, profit }: Props) {
  const { layout, by, order, filter } = settings;
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
      <FilterFields filter={filter} deals={deals} set={(it) => change({ filter: it })} />
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

interface FilterProps {
  filter: Filter;
  deals: readonly OpenDeal[];
  set(filter: Filter): void;
}

function FilterFields({ filter, deals, set }: FilterProps) {
  const { compare } = useFormats();
  const owners = [...new Set(deals.map(({ owner }) => owner ?? noOwner))].sort(compare);
  return (
    <>
      <Select
        label="Owner"
        value={filter.owner}
        options={[['', 'Everyone'], ...owners.map((name) => [name, name] as const)]}
        choose={(owner) => set({ ...filter, owner })}
      />
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

interface SelectProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly (readonly [value: Value, text: string])[];
  choose: (value: Value) => void;
}

export function Select<Value extends string>({
  label,
  value,
  options,
  choose,
}: SelectProps<Value>) {
  const chosen = (text: string) => options.find(([option]) => option === text)?.[0];
  return (
    <label class="field">
      <span>{label}</span>
      <select
        value={value}
        onChange={({ currentTarget }) => choose(chosen(currentTarget.value) ?? value)}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text.slice(0, 60)}
          </option>
        ))}
      </select>
    </label>
  );
}
