/** How many findings there are by status, kind and owner. */
import {
  byName,
  compare,
  nonBlank,
  normaliseName,
  plural,
  sortedNames,
} from '../../figures/naming.ts';
import { forEachStep, type Steps } from '../../figures/steps.ts';
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
export function* countFindings(findings: readonly RawFinding[]): Steps<CountRow[] | undefined> {
  const dimensions = new Set<string>();
  for (const { kinds } of findings) for (const by in kinds) dimensions.add(by);
  const rows = yield* countBy('status', findings, ({ status }) => status);
  for (const by of [...dimensions].sort(compare))
    rows.push(...(yield* countBy(by, findings, kindIn(by))));
  rows.push(...(yield* countBy('owner', findings, ownerKey, ownerName)));
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
function* countBy(
  by: string,
  findings: readonly RawFinding[],
  keyOf: (finding: RawFinding) => string | undefined,
  nameOf: (finding: RawFinding) => string = (finding) => keyOf(finding) ?? '',
): Steps<CountRow[]> {
  const groups = new Map<string, { count: number; names: Set<string> }>();
  yield* forEachStep(findings, (finding) => {
    const key = keyOf(finding);
    if (key === undefined) return;
    const group = groups.get(key) ?? { count: 0, names: new Set() };
    groups.set(key, group);
    group.count += 1;
    group.names.add(nameOf(finding));
  });
  const rows = [...groups.values()].map(({ count, names }): CountRow => {
    const [value = ''] = sortedNames(names);
    return { by, value, count };
  });
  rows.sort((a, b) => b.count - a.count || byName({ name: a.value }, { name: b.value }));
  const others = rows.slice(maxValues);
  if (others.length < 2) return rows;
  const count = others.reduce((sum, row) => sum + row.count, 0);
  return [...rows.slice(0, maxValues), { by, value: plural(others.length, 'other'), count }];
}
