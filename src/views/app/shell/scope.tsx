/** The filters of the answer, and a button that removes them. */
import type { Arguments } from './bridge.ts';
import { type Formats, useFormats } from './format.ts';
import { ActionButton, Badge } from './parts.tsx';
import type { ViewProps } from './view.ts';

/** The filters of deals, with their labels. */
const filters: Readonly<Record<string, string>> = {
  owner: 'Owner',
  company: 'Company',
  stage: 'Stage',
  category: 'Category',
  source: 'Source',
  currency: 'Currency',
  close_from: 'Closes from',
  close_to: 'Closes until',
  min_value: 'Worth at least',
};

/** The filters of deals among the arguments, which other tools take too. */
export const scopeOf = (args: Arguments): Arguments =>
  Object.fromEntries(Object.keys(filters).map((filter) => [filter, args[filter]]));

interface Props extends Omit<ViewProps<unknown>, 'data'> {
  /** A record that passes the filters: it has the name where the filter is an id. */
  sample?: object | undefined;
  /** Labels of filters that only this view has; one without a label has a control of its own. */
  more?: Readonly<Record<string, string>>;
}

/** What the arguments filter by, in words. */
export const scopeWords = (
  args: Arguments,
  { number, day }: Formats,
  all = filters,
  names: Record<string, unknown> = {},
): string[] =>
  Object.entries(all).flatMap(([filter, label]) => {
    const value = args[filter];
    if (typeof value === 'number') return [`${label}: ${number(value)}`];
    if (typeof value !== 'string' || label === '') return [];
    const isDay = /^\d{4}-\d\d-\d\d$/.test(value);
    return [`${label}: ${isDay ? day(value) : (names[filter] ?? value)}`];
  });

export function Scope({ args, host, reload, sample, more }: Props) {
  const all = { ...filters, ...more };
  const asked = scopeWords(args, useFormats(), all, { ...sample });
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
          text="Remove the filters"
          busyText="Reading…"
          run={() => reload(Object.fromEntries(Object.keys(all).map((name) => [name, undefined])))}
        />
      )}
    </p>
  );
}
