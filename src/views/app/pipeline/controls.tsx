import type { OpenDeal } from '../../../briefs/pipeline-deals.ts';
import { useFormats } from '../shell/format.ts';
import { Segments, Switch } from '../shell/parts.tsx';
import { profitSwitch } from '../shell/profit.ts';
import { useNarrow } from '../shell/use-narrow.ts';
import {
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

/** On a narrow page they are folded away, because the charts come first there. */
export function Controls(props: Props) {
  const fields = <Fields {...props} />;
  if (!useNarrow()) return fields;
  return (
    <details class="options">
      <summary>Filter, sort and group</summary>
      {fields}
    </details>
  );
}

function Fields({ settings, set, deals, profit }: Props) {
  const { layout, by, order, measure, filter } = settings;
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
      <Segments
        label="Amount"
        options={revenues}
        value={measure.revenue}
        choose={(revenue) => change({ measure: { ...measure, revenue } })}
      />
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
        <Switch
          text="Weighted"
          on={measure.weighted}
          set={(weighted) => change({ measure: { ...measure, weighted } })}
        />
        {profit && <Switch text={profitSwitch} on={profit.on} set={profit.set} />}
      </div>
    </search>
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
      <label class="field">
        <span>Find</span>
        <input
          type="search"
          value={filter.text}
          placeholder="Name, company, stage"
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
