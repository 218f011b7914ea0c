import { groupBy, plural, pluralOf } from '../figures/naming.ts';
import type { FieldGap } from '../service/records/account.ts';
import { counted, join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';

/** Gaps that are named; of more there is a count. */
const maxGaps = 4;

/** What is not known: "Incomplete: the company of 330 opportunities could not be read, such as "7"". */
export const describeMissing = (
  share: readonly Wording[],
  gaps: readonly FieldGap[],
): Wording[] => {
  const parts = [...share, ...(gaps.length > 0 ? [describeGaps(gaps)] : [])];
  const lead = share.length > 0 || !gaps.every(isAbsent) ? 'Incomplete' : 'Not known';
  return parts.length === 0 ? [] : [wording`${lead}: ${join(parts, '; ')}.`];
};

/** As part of a sentence. */
export function describeGaps(gaps: readonly FieldGap[]): Wording {
  const absent = groupBy(gaps.filter(isAbsent), ({ record, rows }) => `${record} ${rows}`);
  // The same may be so of one quote and of all.
  const told = new Set([
    ...gaps.filter((gap) => !isAbsent(gap)).map(describeUnread),
    ...[...absent.values()].map(describeAbsent),
  ]);
  const parts = [...told];
  const others = parts.length - maxGaps;
  const more = others > 0 ? [wording`${plural(others, 'other field')} likewise`] : [];
  return join([...parts.slice(0, maxGaps), ...more], '; ');
}

const isAbsent = ({ example }: FieldGap): boolean => example === undefined;

/** True, too, where the tenant has no use for the field. */
function describeAbsent(gaps: readonly [FieldGap, ...FieldGap[]]): Wording {
  const [{ record, rows, of }] = gaps;
  const noun = nounOf(record);
  const fields = join(
    gaps.map(({ field }) => trusted(field)),
    ', ',
  );
  return rows < of
    ? wording`${counted(rows)} of ${counted(of)} ${trusted(pluralOf(noun))} ${rows === 1 ? 'has' : 'have'} no ${fields}`
    : wording`no ${trusted(noun)} has ${fields} in a known field`;
}

const nounOf = (record: FieldGap['record']): string => record.replaceAll('_', ' ');

function describeUnread({ record, field, rows, of, example, mayBe }: FieldGap): Wording {
  const where = mayBe === undefined ? '' : wording`, which ${quote(mayBe, 60)} may be`;
  const such = wording`, such as ${quote(String(example), 60)}`;
  const rest = rows === of ? counted(of) : wording`${counted(rows)} of ${counted(of)}`;
  const noun = nounOf(record);
  return wording`the ${trusted(field)} of ${rest} ${trusted(of === 1 ? noun : pluralOf(noun))}${where} could not be read${such}`;
}
