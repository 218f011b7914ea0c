import { utcDay } from '../figures/days.ts';
import { compact } from '../figures/fields.ts';
import { groupBy } from '../figures/lists.ts';
import { type Amounts, formatAmount } from '../figures/money.ts';
import { plural, pluralOf } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import { listColumns } from '../lists/columns.ts';
import { type RecordShape, rowOf, showsCurrency } from '../lists/concise.ts';
import { isFieldOf, keyNames, valuesOf } from '../lists/criteria.ts';
import type { NamedPage } from '../lists/list-records.ts';
import type { Coverage } from '../reading/coverage.ts';
import type { FieldGap } from '../service/records/account.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import { type CollectionsRead, couldBeRead } from '../tenant/read-collections.ts';
import type { Tenant } from '../tenant/tenant.ts';
import {
  applying,
  counted,
  identifier,
  join,
  quote,
  trusted,
  type Wording,
  wording,
} from '../text/untrusted-text.ts';
import { isKeyOf, type JsonObject, valueAt } from '../values.ts';
import type { Answer } from './define-tool.ts';
import { answerWithRows, pageOf } from './rows.ts';

/** A time as answers show it: ISO 8601, to the second in UTC. */
export const toIsoSeconds = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;

export function toCoverage(coverage: Coverage & { asOf: Date }): Record<string, unknown> {
  const { asOf, fields = [], ...read } = coverage;
  return { ...read, asOf: toIsoSeconds(asOf), ...(fields.length > 0 && { fields }) };
}

/** They need no warning, because the summary of a page says how many records there are. */
export const pageReasons: ReadonlySet<unknown> = new Set(['one page', 'not counted']);

/** The summary; it begins with what could not be read, or with the time where it should be a later one. */
export function withCoverageFirst({ summary, data }: Answer): Wording {
  const { fields = [], ...coverage } = (data.coverage ?? {}) as Partial<
    Coverage & { asOf: string }
  >;
  const { complete, reason, asOf = '' } = coverage;
  const isOld = complete && reason !== undefined;
  const told = isOld ? wording`Only as of ${identifier(asOf)}: ${summary}` : summary;
  const isPart = complete === false && !pageReasons.has(reason);
  const share = isPart && describeShare(coverage);
  const gaps = fields.length > 0 && describeGaps(fields);
  // What is not known: "Incomplete: the company of 330 opportunities could not be read, such as "7"".
  const lead = share || !fields.every(isAbsent) ? 'Incomplete' : 'Not known';
  return share || gaps ? wording`${lead}: ${join([share, gaps], '; ')}. ${told}` : told;
}

function describeShare({ read, total = 0, reason = '' }: Partial<Coverage>): Wording | false {
  if (read === undefined) return false;
  const isShare = total > read;
  // Of several collections the reason says which.
  if (reason.includes(couldBeRead) && (isShare || reason.startsWith('no '))) return trusted(reason);
  return isShare
    ? wording`only ${counted(read)} of ${counted(total)} records could be read`
    : wording`there may be more than the ${counted(read)} records that could be read`;
}

/** Gaps that are named; of more there is a count. */
const maxGaps = 4;

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
  const more = others > 0 && wording`${plural(others, 'other field')} likewise`;
  return join([...parts.slice(0, maxGaps), more], '; ');
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
  const where = mayBe !== undefined && wording`, which ${quote(mayBe, 60)} may be`;
  const such = wording`, such as ${quote(String(example), 60)}`;
  const rest = rows === of ? counted(of) : wording`${counted(rows)} of ${counted(of)}`;
  const noun = nounOf(record);
  return wording`the ${trusted(field)} of ${rest} ${trusted(of === 1 ? noun : pluralOf(noun))}${where} could not be read${such}`;
}

/** Why there may be no deal at all. */
export const describeNoDeals = (all: readonly unknown[]): Wording | false =>
  all.length === 0 && wording`The service gave no opportunity at all: the API key may not see any.`;

/**
 * A page of a log of this server, the newest first.
 * @param log how many entries were read, how many are damaged, and what that means
 */
export const logAnswer = (
  rows: readonly JsonObject[],
  { from, total }: { from: number; total: number },
  { read, damaged, reason }: { read: number; damaged: number; reason: string },
  { summaryOf, notes }: { summaryOf(shown: number): Wording; notes: Answer['notes'] & object },
): Answer =>
  answerWithRows(rows.length, (shown) => ({
    summary: summaryOf(shown),
    data: {
      records: rows.slice(0, shown),
      page: pageOf(shown, from, total),
      coverage: toCoverage({
        ...{ complete: damaged === 0, read, total: read + damaged, asOf: new Date() },
        ...(damaged > 0 && { reason }),
      }),
    },
    notes,
  }));

/** Today by the server's clock, in UTC. */
export const today = (): string => utcDay(new Date());

/**
 * The answer of a tool to a question about whole collections, computed once a day for each reading of these. It must
 * depend on the question, the day and `read` alone, and hold the rows that it can show, not all records.
 */
export function memoizedAnswer<R extends Resource>(
  tenant: Tenant,
  read: CollectionsRead<R>,
  question: { tool: string } & Record<string, unknown>,
  compute: () => Promise<Answer>,
): Promise<Answer> {
  const name = JSON.stringify([question, today(), read.coverage, read.omitted]);
  // As many bytes as records of this length take in the cache.
  const bytesOf = ({ data }: Answer): number => 2 * JSON.stringify(data).length;
  return tenant.derived.get(read.readings, name, compute, bytesOf);
}

/** Amounts by currency as text: "12,500 EUR, 40 GBP and 300.50 USD". */
export function formatAmounts(amounts: Amounts): Wording {
  const words = Object.entries(amounts).map(([code, amount]) => formatAmount(amount, code));
  const last = words.pop() ?? wording``;
  return words.length === 0 ? last : wording`${join(words, ', ')} and ${last}`;
}

/** Of groups in the order of their amounts. */
export const rankedInCurrencies = wording`Ranked by the largest sum.`;

interface ListHints {
  /** The note of an empty answer without a known reason, where something was looked for. */
  empty?: Wording | undefined;
  note?: Wording | false | undefined;
}

/** A page of a list, and how to get the next page. */
export function listAnswer<R extends Resource>(
  resource: R,
  list: NamedPage<RecordOf[R]>,
  shape: RecordShape,
  hints: ListHints,
): Answer {
  const { records, from, total, known, keys } = list;
  const missing = missingFields(resource, records, shape.fields);
  const hasCurrency = showsCurrency(resource, shape.fields);
  const rows: JsonObject[] = [];
  let unknownCurrencies = 0;
  for (const record of records) {
    const row = rowOf(resource, record, shape, known, keys);
    rows.push(row);
    if (hasCurrency && row.currency === undefined) unknownCurrencies += 1;
  }
  const currency = hasCurrency ? takeShared(rows, 'currency') : undefined;
  const ofList = applying(list.notes ?? []);
  const notes = applying([...ofList, ...missing, hints.note]);
  const lacks = rows.length > 1 && unknownCurrencies === rows.length;
  return answerWithRows(rows.length, (shown) => {
    const next = shown < rows.length ? from + shown : list.next;
    return {
      summary: wording`${listSummary(resource, list, shown, next, lacks)}${deletedCount(resource, list, shown)}`,
      data: compact({
        currency,
        records: rows.slice(0, shown),
        page: compact({ shown, from, total, next }),
        coverage: toCoverage(list.coverage),
      }),
      unknownCurrencies,
      asStored: shape.detail === 'full' && !shape.fields?.length,
      notes: shown > 0 || ofList.length > 0 ? notes : [emptyNote(list, hints), ...notes],
    };
  });
}

const emptyNote = ({ from, total }: NamedPage<unknown>, { empty }: ListHints): Wording => {
  if (total === 0) return empty ?? wording`There are none, or the key may not read them.`;
  return from < total
    ? wording`The service counts them but gave none of them: ask again in a minute.`
    : wording`The last one is at from ${total - 1}: ask with that, or a smaller one.`;
};

/** Takes a value that all rows have out of them. */
function takeShared(rows: readonly JsonObject[], field: string): unknown {
  const shared = rows[0]?.[field];
  for (const row of rows) if (row[field] !== shared) return undefined;
  // What is undefined is left out of an answer; to delete it would slow down what reads the rows.
  if (shared !== undefined) for (const row of rows) row[field] = undefined;
  return shared;
}

/** Rows whose amounts are shown without a currency. */
export const describeUnknownCurrencies = (count: number): Wording | false =>
  count > 0 && wording`The currency of ${plural(count, 'row')} is unknown.`;

/**
 * Names the known fields that none of these records has.
 * @throws InvalidArguments for a field that is neither a column nor known, and that no record has
 */
export function missingFields<R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  fields: readonly string[] = [],
): Wording[] {
  const isColumn = (field: string): boolean => isKeyOf(listColumns[resource].all, field);
  const missing = fields.filter(
    (field) =>
      !isColumn(field) && records.every((record) => valuesOf(valueAt(record, field)).length === 0),
  );
  if (missing.length === 0 || records.length === 0) return [];
  const unknown = missing.find((path) => !isFieldOf(resource, path));
  if (unknown === undefined)
    return [wording`No record shown has ${join(missing.map(identifier), ', ')}.`];
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
  const which = total === 1 ? 'It' : `${count} of ${of}`;
  const counts = count > 0 && wording` ${trusted(which)} ${count === 1 ? 'is' : 'are'} deleted.`;
  const mayCountOthers =
    deleted === undefined && shown < total && (count > 0 || softDeleted.includes(resource));
  const others =
    mayCountOthers &&
    wording` The total may count deleted ones: filters deleted:false leaves them out.`;
  return wording`${counts}${others}`;
}

function listSummary(
  resource: Resource,
  { from, total, coverage }: NamedPage<unknown>,
  shown: number,
  next: number | undefined,
  lacksCurrency: boolean,
): Wording {
  const noun = trusted(resource.replaceAll('_', ' '));
  const without = lacksCurrency && ', without a known currency';
  const isExact = coverage.complete || coverage.reason === 'one page';
  if (shown === 0) {
    const start = from > 0 && wording` from ${from}`;
    const others = total > 0 && wording`: there are ${total}`;
    return wording`No ${trusted(pluralOf(noun))}${start}${others}.`;
  }
  if (shown === total && isExact)
    return wording`${total > 1 && 'All '}${plural(total, noun)}${without}.`;
  const more = next !== undefined && wording` Next: the same call with from ${next}.`;
  return wording`${shown} of ${!isExact && 'at least '}${plural(total, noun)}, from ${from}${without}.${more}`;
}

/** What to try when a search found nothing. */
export const emptySearch = (findBy: Wording): Wording =>
  wording`Nothing matches. Try fewer words, another spelling or fewer filters; ${findBy}.`;
