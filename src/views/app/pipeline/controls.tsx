import type { OpenDeal } from '../../../briefs/pipeline-deals.ts';
import { Segments, Switch } from '../shell/parts.tsx';
import { type ColumnsBy, type Filter, type Measure, noOwner } from './deals.ts';

export interface Settings {
  by: ColumnsBy;
  measure: Measure;
  filter: Filter;
}

interface Props {
  settings: Settings;
  set(settings: Settings): void;
  deals: readonly OpenDeal[];
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

export function Controls({ settings, set, deals }: Props) {
  const { by, measure, filter } = settings;
  const change = (part: Partial<Settings>) => set({ ...settings, ...part });
  const owners = [...new Set(deals.map(({ owner }) => owner ?? noOwner))].sort();
  return (
    <search class="controls" aria-label="Board options">
      <Segments label="Columns" options={columns} value={by} choose={(it) => change({ by: it })} />
      <Segments
        label="Amount"
        options={revenues}
        value={measure.revenue}
        choose={(revenue) => change({ measure: { ...measure, revenue } })}
      />
      <Switch
        text="Weighted"
        on={measure.weighted}
        set={(weighted) => change({ measure: { ...measure, weighted } })}
      />
      <Select
        label="Owner"
        value={filter.owner}
        options={[['', 'Everyone'], ...owners.map((name): [string, string] => [name, name])]}
        choose={(owner) => change({ filter: { ...filter, owner } })}
      />
      <label class="field">
        <span>Find</span>
        <input
          type="search"
          value={filter.text}
          placeholder="Name, company, stage"
          onInput={({ currentTarget }) =>
            change({ filter: { ...filter, text: currentTarget.value } })
          }
        />
      </label>
    </search>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly [value: string, text: string][];
  choose(value: string): void;
}

export function Select({ label, value, options, choose }: SelectProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text.slice(0, 60)}
          </option>
        ))}
      </select>
    </label>
  );
}
