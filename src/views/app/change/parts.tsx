import type { ComponentChildren } from 'preact';
import { rightToLeft } from '../../../text/untrusted-text.ts';
import { Badge } from '../shell/parts.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
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
  isStored?: boolean | undefined;
}

/** A text of a record, whole, in its own direction. */
export function Text({ text, other, isStored }: TextProps) {
  const parts = partsOf(text, other, isStored);
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
export function Differences({ title, columns: [before, after], rows }: DifferenceTable) {
  const columns: TableColumn<DifferenceTable['rows'][number]>[] = [
    { title: 'Field', kind: 'row-name', cell: ({ label }) => <bdi>{label}</bdi> },
    {
      title: before,
      class: 'before',
      cell: ({ before: text = '(empty)', after: other, isStored }) => (
        <Text {...{ text, other, isStored }} />
      ),
    },
    {
      title: after,
      class: 'after',
      cell: (row) => (
        <>
          <Text text={row.after} other={row.before} isStored={row.isStored} />
          {row.remark && <p class="unlike">{row.remark}</p>}
        </>
      ),
    },
  ];
  const hasBefore = rows.some((row) => row.before !== undefined);
  return (
    <div class="differences">
      <Table
        label={title}
        caption={title}
        rows={rows}
        keyOf={({ label }) => label}
        columns={hasBefore ? columns : columns.filter((column) => column.title !== before)}
      />
    </div>
  );
}
