/** The answer of a list: a page of records with the columns or fields that were asked for. */
import { compact, plural, pluralOf } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { columnsOf, isInCompanyCurrency } from '../lists/columns.ts';
import {
  concise,
  fullRecord,
  isAmount,
  selectFields,
  valueAt,
  withKeys,
} from '../lists/concise.ts';
import { keyNames } from '../lists/criteria.ts';
import type { NamedPage } from '../lists/list-records.ts';
import { valuesOf } from '../lists/values.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import { quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isKeyOf, type JsonObject } from '../values.ts';
import { answerWithRows, toCoverage } from './answers.ts';
import type { Answer } from './define-tool.ts';

export interface RecordShape {
  detail: 'concise' | 'full';
  fields?: string[] | undefined;
}

interface ListHints {
  /** The note of an empty answer without a known reason. */
  empty: Wording;
  notes?: readonly Wording[] | undefined;
}

/** A page of a list, and how to get the next page. */
export function listAnswer<R extends Resource>(
  resource: R,
  list: NamedPage<RecordOf[R]>,
  shape: RecordShape,
  hints: ListHints,
): Answer {
  const { records, from, total } = list;
  requireFields(resource, records, shape.fields);
  const currencies = currenciesOf(resource, list, shape.fields);
  const currency = sharedBy(currencies);
  const rows = records.map((record, at) =>
    rowOf(resource, record, list, shape, {
      currency: currencies[at],
      isShared: currency !== undefined,
    }),
  );
  return answerWithRows(rows.length, (shown) => {
    const next = shown < rows.length ? from + shown : list.next;
    return {
      summary: wording`${listSummary(resource, list, shown, next)}${deletedCount(resource, list, shown)}`,
      data: compact({
        currency,
        records: shown === rows.length ? rows : rows.slice(0, shown),
        page: compact({ shown, from, total, next }),
        coverage: toCoverage(list.coverage),
        facets: shape.detail === 'full' ? list.facets : undefined,
      }),
      unknownCurrencies: unknownIn(currencies),
      notes: listNotes(list.notes, shown, hints),
    };
  });
}

function listNotes(
  notes: readonly Wording[] = [],
  shown: number,
  hints: ListHints,
): readonly Wording[] {
  const empty = shown === 0 && notes.length === 0 ? [hints.empty] : [];
  return [...notes, ...empty, ...(hints.notes ?? [])];
}

/** A record with the requested detail or fields; amounts with their currency, where the rows do not share it. */
function rowOf<R extends Resource>(
  resource: R,
  record: RecordOf[R],
  { known, keys }: Pick<NamedPage<unknown>, 'known' | 'keys'>,
  { detail, fields }: RecordShape,
  { currency, isShared }: { currency: unknown; isShared: boolean },
): JsonObject {
  const own = isShared || currency === undefined ? {} : { currency };
  if (fields?.length) return { ...selectFields(resource, record, fields, known), ...own };
  if (detail === 'full') return { ...own, ...fullRecord(record) };
  const row = concise(resource, record, known, isShared ? 'currency' : undefined);
  return withKeys(resource, record, row, keys, known);
}

/** The currency of every record, unless none of their amounts is shown. */
export function currenciesOf<R extends Resource>(
  resource: R,
  { records, known }: Pick<NamedPage<RecordOf[R]>, 'records' | 'known'>,
  fields: readonly string[] = [],
): readonly unknown[] {
  const column = columnsOf(resource).currency;
  const showsAmounts =
    isInCompanyCurrency(resource) && (fields.length === 0 || fields.some(isAmount));
  return column && showsAmounts ? records.map((record) => column.value(record, known)) : [];
}

/** The value that all have; `undefined` if they differ. */
const sharedBy = ([first, ...others]: readonly unknown[]): unknown =>
  others.every((other) => other === first) ? first : undefined;

export const unknownIn = (currencies: readonly unknown[]): number =>
  currencies.filter((currency) => currency === undefined).length;

/** Rows whose amounts are shown without a currency. */
export const describeUnknownCurrencies = (count: number): Wording[] =>
  count === 0 ? [] : [wording`The currency of ${plural(count, 'row')} is unknown.`];

/** @throws InvalidArguments for a field that is no column, and that no record has */
export function requireFields<R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  fields: readonly string[] = [],
): void {
  const unknown = fields.find(
    (field) =>
      !isKeyOf(columnsOf(resource), field) &&
      records.every((record) => valuesOf(valueAt(record, field)).length === 0),
  );
  if (unknown === undefined || records.length === 0) return;
  throw new InvalidArguments(
    wording`No record shown has the field ${quote(unknown)}. Known: ${keyNames(resource)}; or a field of the record, with dots.`,
  );
}

/** Records that a service keeps after they were deleted, and may count. */
const softDeleted: readonly Resource[] = ['contact', 'opportunity', 'quote'];

/** Deleted rows are marked, and counted first: a glance at the table may miss the mark. */
function deletedCount(
  resource: Resource,
  { records, total, deleted }: NamedPage<ApiRecord>,
  shown: number,
): Wording {
  const count = deleted ?? records.slice(0, shown).filter(isDeleted).length;
  const of = deleted === undefined ? 'the rows shown' : 'them';
  const counts =
    count === 0
      ? wording``
      : wording` ${count} of ${trusted(of)} ${count === 1 ? 'is' : 'are'} deleted.`;
  const mayCountOthers = deleted === undefined && shown < total;
  return mayCountOthers && (count > 0 || softDeleted.includes(resource))
    ? wording`${counts} The total may count deleted ones: filters deleted:false leaves them out.`
    : counts;
}

function listSummary(
  resource: Resource,
  { from, total, coverage }: NamedPage<unknown>,
  shown: number,
  next: number | undefined,
): Wording {
  const noun = trusted(resource.replaceAll('_', ' '));
  const isExact = coverage.complete || coverage.reason === 'one page';
  if (shown === 0) {
    const start = from > 0 ? wording` from ${from}` : '';
    const others = total > 0 ? wording`: there are ${total}` : '';
    return wording`No ${trusted(pluralOf(noun))}${start}${others}.`;
  }
  if (shown === total && isExact)
    return wording`${total === 1 ? '' : 'All '}${plural(total, noun)}.`;
  const slice = wording`${shown} of ${isExact ? '' : 'at least '}${plural(total, noun)}, from ${from}.`;
  return next === undefined ? slice : wording`${slice} Next: the same call with from ${next}.`;
}

/** What to try when a search found nothing. */
export const emptySearch = (findBy: Wording): Wording =>
  wording`Nothing matches. Try fewer words, another spelling or fewer filters; ${findBy}.`;
