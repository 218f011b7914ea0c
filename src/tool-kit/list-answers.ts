/** The answer of a list: a page of records with the columns or fields that were asked for. */
import { compact, plural, pluralOf } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { listColumns } from '../lists/columns.ts';
import { type RecordShape, rowOf, showsCurrency, valueAt } from '../lists/concise.ts';
import { keyNames, valuesOf } from '../lists/criteria.ts';
import type { NamedPage } from '../lists/list-records.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import { quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isKeyOf, type JsonObject } from '../values.ts';
import { answerWithRows, toCoverage } from './answers.ts';
import type { Answer } from './define-tool.ts';

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
  const { records, from, total, known, keys } = list;
  if (shape.fields) requireFields(resource, records, shape.fields);
  const hasCurrency = showsCurrency(resource, shape.fields);
  const rows: JsonObject[] = [];
  let unknownCurrencies = 0;
  for (const record of records) {
    const row = rowOf(resource, record, shape, known, keys);
    rows.push(row);
    if (hasCurrency && row.currency === undefined) unknownCurrencies += 1;
  }
  const currency = hasCurrency ? takeShared(rows, 'currency') : undefined;
  const notes = [...(list.notes ?? []), ...(hints.notes ?? [])];
  return answerWithRows(rows.length, (shown) => {
    const next = shown < rows.length ? from + shown : list.next;
    return {
      summary: wording`${listSummary(resource, list, shown, next)}${deletedCount(resource, list, shown)}`,
      data: compact({
        currency,
        records: rows.slice(0, shown),
        page: compact({ shown, from, total, next }),
        coverage: toCoverage(list.coverage),
        facets: shape.detail === 'full' ? list.facets : undefined,
      }),
      unknownCurrencies,
      notes: shown === 0 && !list.notes?.length ? [hints.empty, ...notes] : notes,
    };
  });
}

/** Takes a value that all rows have out of them. */
function takeShared(rows: readonly JsonObject[], field: string): unknown {
  const shared = rows[0]?.[field];
  for (const row of rows) if (row[field] !== shared) return undefined;
  // What is undefined is left out of an answer; to delete it would slow down what reads the rows.
  for (const row of rows) row[field] = undefined;
  return shared;
}

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
      !isKeyOf(listColumns[resource].all, field) &&
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
