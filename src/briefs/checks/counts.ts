/** How many findings there are by status, kind and owner. */
import { byName, compare, groupBy, nonBlank, normaliseName, plural } from '../naming.ts';
import type { RawFinding } from './check.ts';

/** `by`: owner, status, or a property by which the findings of a check differ; `value`: its value. */
export interface CountRow {
  by: string;
  value: string;
  count: number;
}

/** Owners shown; the others are one row. */
const maxValues = 24;

/** Every finding counts once in each `by`. `undefined` without findings, or where they do not differ in anything. */
export function countFindings(findings: readonly RawFinding[]): CountRow[] | undefined {
  const dimensions = new Set(findings.flatMap(({ kinds = {} }) => Object.keys(kinds)));
  const rows = [
    ...countBy('status', findings, ({ status }) => status),
    ...[...dimensions].sort(compare).flatMap((by) => countBy(by, findings, kindIn(by))),
    ...countBy('owner', findings, ownerKey, ownerName),
  ];
  return rows.length > 0 ? rows : undefined;
}

const kindIn =
  (by: string) =>
  ({ kinds }: RawFinding): string | undefined =>
    kinds?.[by];

const noOwner = 'no owner';

/** Only quotes and opportunities have an owner. */
function ownerKey({ resource, owner }: RawFinding): string | undefined {
  if (resource !== 'quote' && resource !== 'opportunity') return undefined;
  return nonBlank(owner?.id) ?? (normaliseName(owner?.name) || noOwner);
}

const ownerName = ({ owner }: RawFinding): string =>
  nonBlank(owner?.name) ?? nonBlank(owner?.id) ?? noOwner;

/** The most frequent first. One name per key: the first in alphabetical order. */
function countBy(
  by: string,
  findings: readonly RawFinding[],
  keyOf: (finding: RawFinding) => string | undefined,
  nameOf: (finding: RawFinding) => string = (finding) => keyOf(finding) ?? '',
): CountRow[] {
  const keyed = findings.filter((finding) => keyOf(finding) !== undefined);
  const groups = groupBy(keyed, (finding) => keyOf(finding) ?? '');
  const rows = [...groups.values()].map((group): CountRow => {
    const [value = ''] = group.map(nameOf).sort((a, b) => byName({ name: a }, { name: b }));
    return { by, value, count: group.length };
  });
  rows.sort((a, b) => b.count - a.count || byName({ name: a.value }, { name: b.value }));
  return rows.length <= maxValues + 1 ? rows : [...rows.slice(0, maxValues), othersOf(rows)];
}

function othersOf(rows: readonly CountRow[]): CountRow {
  const others = rows.slice(maxValues);
  const count = others.reduce((sum, row) => sum + row.count, 0);
  return { by: rows[0]?.by ?? '', value: plural(others.length, 'other'), count };
}
