// biome-ignore-all lint/a11y/noRedundantRoles: CSS shows these tables as blocks, which removes their implicit roles
import type { ComponentChildren } from 'preact';
import { rightToLeft } from '../../../text/untrusted-text.ts';
import { Badge } from '../shell/parts.tsx';
import { type DifferenceTable, partsOf } from './data.ts';

/** Level of the heading: the first in the view of a change, the second in a panel of another view. */
export type Level = 'h1' | 'h2';

/** Gets the focus when what is shown changes. */
export function Title({ level: Heading, children }: { level: Level; children: ComponentChildren }) {
  return (
    <Heading class="title" tabIndex={-1}>
      {children}
    </Heading>
  );
}

interface TextProps {
  text: string;
  /** The text in whose place it comes, or that comes in its place. */
  other?: string | undefined;
}

/** A text of a record, whole, in its own direction. */
export function Text({ text, other }: TextProps) {
  const parts = partsOf(text, other);
  return (
    <span class="whole">
      {parts.map((part, at) => (
        <bdi key={at}>{part.isChanged ? <mark>{part.text}</mark> : part.text}</bdi>
      ))}
      {rightToLeft.test(text) && (
        <>
          {' '}
          <Badge>right-to-left</Badge>
        </>
      )}
    </span>
  );
}

/** The fields of a change, with their values before and after. */
export function Differences({ title, columns, rows }: DifferenceTable) {
  const hasBefore = rows.some(({ before }) => before !== undefined);
  const [before, after] = columns;
  const shown = hasBefore ? ['Field', before, after] : ['Field', after];
  return (
    <table class="differences" role="table">
      <caption>{title}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {shown.map((column) => (
            <th key={column} role="columnheader" scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={row.label} role="row">
            <th role="rowheader" scope="row">
              <bdi>{row.label}</bdi>
            </th>
            {hasBefore && (
              <td role="cell" class="before" data-title={before}>
                <Text text={row.before ?? '(empty)'} other={row.after} />
              </td>
            )}
            <td role="cell" class="after" data-title={after}>
              <Text text={row.after} other={row.before} />
              {row.remark && <p class="unlike">{row.remark}</p>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
