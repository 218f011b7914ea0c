/** The filters of the answer, and a button that removes them. */
import type { Arguments } from '../shell/bridge.ts';
import { useFormats } from '../shell/format.ts';
import { ActionButton, Badge } from '../shell/parts.tsx';
import type { ViewProps } from '../shell/view.ts';

/** The filters of the tool, with their labels. */
const filters = {
  owner: 'Owner',
  company: 'Company',
  stage: 'Stage',
  category: 'Category',
  source: 'Source',
  currency: 'Currency',
  close_from: 'Closes from',
  close_to: 'Closes until',
  min_value: 'Worth at least',
} as const;

/** The filters among the arguments, which other tools take too. */
export const scopeOf = (args: Arguments): Arguments =>
  Object.fromEntries(Object.keys(filters).map((filter) => [filter, args[filter]]));

interface Props extends Omit<ViewProps<unknown>, 'data'> {
  /** A record that passes the filters: it has the name where the filter is an id. */
  sample?: object | undefined;
}

export function Scope({ args, host, reload, sample = {} }: Props) {
  const { number, day } = useFormats();
  const names: Record<string, unknown> = { ...sample };
  const asked = Object.entries(filters).flatMap(([filter, label]) => {
    const value = args[filter];
    if (typeof value === 'number') return [`${label}: ${number(value)}`];
    if (typeof value !== 'string') return [];
    return [`${label}: ${filter.startsWith('close_') ? day(value) : (names[filter] ?? value)}`];
  });
  if (asked.length === 0) return null;
  return (
    <p class="scope">
      {asked.map((text) => (
        <Badge key={text}>
          <bdi>{text}</bdi>
        </Badge>
      ))}
      {host.canRead && (
        <ActionButton
          text="Show the whole pipeline"
          busyText="Reading…"
          run={() => reload(scopeOf({}))}
        />
      )}
    </p>
  );
}
