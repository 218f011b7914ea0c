import type { Change, Changes } from './changes.ts';
import { all } from './rewrite.ts';
import * as fields from './wire-fields.ts';
import * as mixed from './wire-mixed.ts';
import * as shapes from './wire-shapes.ts';
import * as states from './wire-states.ts';

/** One way in which replies differ from those of the documented service. */
export interface WireVariation extends Change {
  name: string;
  group: string;
}

const named = (groups: Readonly<Record<string, Changes>>): WireVariation[] =>
  Object.entries(groups).flatMap(([group, changes]) =>
    Object.entries(changes).map(([name, change]) => ({ ...change, name, group })),
  );

const { anyField, ...namedFields } = fields;

/** Those that somebody has met or expects. */
export const wireVariations: readonly WireVariation[] = named({
  ...shapes,
  ...namedFields,
  ...mixed,
  ...states,
});

/** Each field renamed, reshaped, removed. */
export const fieldVariations: readonly WireVariation[] = named({ 'any field': anyField });

/** How each is applied where several are: fields before envelopes. */
const order = [
  'ids',
  'searches',
  'counts',
  'pages',
  'totals',
  'envelopes',
  'encodings',
  'transport',
];

/** Two at once. */
export function pairOf(one: WireVariation, other: WireVariation): WireVariation {
  const [first, second] = [one, other].toSorted(
    (a, b) => order.indexOf(a.group) - order.indexOf(b.group),
  ) as [WireVariation, WireVariation];
  const rewrites = [first.rewrite, second.rewrite].filter((it) => it !== undefined);
  const likes = [first.like?.rewrite, second.like?.rewrite].filter((it) => it !== undefined);
  return {
    ...first,
    ...second,
    name: `${first.name} + ${second.name}`,
    group: 'pairs',
    rewrite: rewrites.length === 0 ? undefined : all(...rewrites),
    like: {
      ...first.like,
      ...second.like,
      rewrite: likes.length === 0 ? undefined : all(...likes),
    },
    mayFail: [...(first.mayFail ?? []), ...(second.mayFail ?? [])],
  };
}
