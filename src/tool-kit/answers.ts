import { utcDay } from '../figures/days.ts';
import { isCurrencyCode, unknownCurrency } from '../figures/money.ts';
import { compact, plural } from '../figures/naming.ts';
import { isDeleted } from '../figures/outcome.ts';
import type { Known } from '../lists/column.ts';
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
import { knownFor } from '../lists/known.ts';
import type { NamedPage } from '../lists/list-records.ts';
import { valuesOf } from '../lists/values.ts';
import type { Coverage } from '../reading/coverage.ts';
import type { ListPage } from '../reading/list-page.ts';
import type { ApiRecord, RecordOf, Resource } from '../service/records/records.ts';
import type { ToolCall } from '../tenant/call.ts';
import { InvalidArguments } from '../tenant/invalid-arguments.ts';
import type { Resolution } from '../tenant/lookup.ts';
import type { Tenant } from '../tenant/tenant.ts';
import {
  counted,
  identifier,
  join,
  quote,
  trusted,
  type Wording,
  wording,
} from '../text/untrusted-text.ts';
import { isKeyOf, isObject, isOneOf } from '../values.ts';
import type { Answer } from './define-tool.ts';

export interface RecordShape {
  detail: 'concise' | 'full';
  fields?: string[] | undefined;
}

/** A time as answers show it: ISO 8601, to the second in UTC. */
export const toIsoSeconds = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;

export function toCoverage(coverage: Coverage & { asOf: Date }): Record<string, unknown> {
  const { complete, read, total, asOf, reason } = coverage;
  return compact({ complete, read, total, asOf: toIsoSeconds(asOf), reason });
}

/** Reasons that need no warning, because the summary of a page says how many records there are. */
const pageReasons = ['one page', 'not counted'];
export const isPageReason = (reason: unknown): boolean => isOneOf(pageReasons, reason);

/** The summary; for an incomplete answer, it begins with the share that was read. */
export function withCoverageFirst({ summary, data }: Answer): Wording {
  const { complete, read, total, reason } = (data.coverage ?? {}) as Partial<Coverage>;
  if (complete !== false || read === undefined || isPageReason(reason)) return summary;
  return total === undefined || total <= read
    ? wording`Incomplete: there may be more than the ${counted(read)} records that could be read. ${summary}`
    : wording`Incomplete: only ${counted(read)} of ${counted(total)} records could be read. ${summary}`;
}

/** Coverage of a log of this server, of which `damaged` entries cannot be read. */
export function logCoverage(read: number, damaged: number, reason: string): object {
  const coverage = { complete: damaged === 0, read, total: read + damaged, asOf: new Date() };
  return toCoverage(damaged === 0 ? coverage : { ...coverage, reason });
}

/**
 * An answer of `count` rows; `mcp/results` has it written again with fewer where it is too long, or, with `aim`,
 * where it has more tokens than that.
 */
export const answerWithRows = (
  count: number,
  write: (count: number) => Answer,
  aim?: number,
): Answer => ({
  ...write(count),
  rows: { count, keep: (fewer) => answerWithRows(fewer, write, aim), aim },
});

/** Which rows of a list are shown, and the position of the next one. */
export interface Page {
  shown: number;
  from: number;
  total: number;
  next?: number;
}

export const pageOf = (shown: number, from: number, total: number): Page => ({
  shown,
  from,
  total,
  ...(shown > 0 && from + shown < total && { next: from + shown }),
});

/** The fields of a brief with at most so many rows in each list; `groups` are whole. */
export const limitLists = (
  figures: Readonly<Record<string, unknown>>,
  limit: number,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(figures).map(([field, value]) => [
      field,
      field === 'groups' ? value : limitRows(value, limit),
    ]),
  );

function limitRows(value: unknown, limit: number): unknown {
  if (!isObject(value) || !Array.isArray(value.rows)) return value;
  const rows = value.rows.slice(0, limit);
  return { ...value, shown: rows.length, rows };
}

/** The first words of an answer on a deleted record; nothing if it is not deleted. */
export function deletedWords(deletion: string | true | undefined): Wording {
  if (deletion === undefined) return wording``;
  return deletion === true ? wording`Deleted: ` : wording`Deleted on ${identifier(deletion)}: `;
}

interface ShapedRecords {
  /** In the concise form, if all records share it. */
  currency?: unknown;
  rows: readonly Record<string, unknown>[];
}

/** The records with the requested detail or fields; amounts with their currency. */
function shapeRecords<R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  shape: RecordShape,
  { known, keys }: Pick<NamedPage<unknown>, 'known' | 'keys'>,
): ShapedRecords {
  const { detail, fields } = shape;
  const isChosen = fields?.includes('currency');
  const currencies = isChosen ? [] : currenciesOf(resource, records, shape, known);
  const [first] = currencies;
  const currency = currencies.every((it) => it === first) ? first : undefined;
  const rows = records.map((record, at) => {
    const own = currency === undefined && currencies[at] ? { currency: currencies[at] } : {};
    if (fields?.length) return { ...selectFields(resource, record, fields, known), ...own };
    if (detail === 'full') return { ...own, ...fullRecord(record) };
    const omitted = currency === undefined ? undefined : 'currency';
    const row = concise(resource, record, known, omitted);
    return withKeys(resource, record, row, keys, known);
  });
  return { currency, rows };
}

/** The currency of every record, unless none of their amounts is shown. */
function currenciesOf<R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  { fields }: Partial<RecordShape>,
  known: Known,
): readonly unknown[] {
  const column = columnsOf(resource).currency;
  const showsAmounts = isInCompanyCurrency(resource) && (!fields?.length || fields.some(isAmount));
  return column && showsAmounts ? records.map((record) => column.value(record, known)) : [];
}

/** Where amounts are shown without a currency. */
export function describeUnknownCurrencies<R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  shape: Partial<RecordShape>,
  known: Known,
): Wording[] {
  const currencies = currenciesOf(resource, records, shape, known);
  const count = currencies.filter((it) => it === undefined).length;
  return count === 0 ? [] : [wording`The currency of ${plural(count, 'row')} is unknown.`];
}

interface ListHints {
  /** The note of an empty answer without a known reason. */
  empty: Wording;
  notes?: readonly Wording[] | undefined;
}

function listNotes(
  { notes = [] }: ListPage<unknown>,
  shown: number,
  hints: ListHints,
): readonly Wording[] {
  const empty = shown === 0 && notes.length === 0 ? [hints.empty] : [];
  return [...notes, ...empty, ...(hints.notes ?? [])];
}

/** @throws InvalidArguments for a field that is no column, and that no record has */
export function requireFields<R extends Resource>(
  resource: R,
  records: readonly RecordOf[R][],
  { fields = [] }: Partial<RecordShape>,
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

/** The plural of a resource, for sentences. */
export type Plural =
  | 'categories'
  | 'companies'
  | 'contacts'
  | 'contract items'
  | 'discount groups'
  | 'opportunities'
  | 'pricing books'
  | 'products'
  | 'quote templates'
  | 'quote widgets'
  | 'quotes';

const singularOf = (plural: Plural): string =>
  plural.endsWith('ies') ? `${plural.slice(0, -'ies'.length)}y` : plural.slice(0, -'s'.length);

const allOf = (plural: Plural, total: number): Wording =>
  total === 1 ? wording`1 ${trusted(singularOf(plural))}` : wording`All ${total} ${plural}`;

/** A page of a list, and how to get the next page. */
export function listAnswer<R extends Resource>(
  resource: R,
  plural: Plural,
  list: NamedPage<RecordOf[R]>,
  shape: RecordShape,
  hints: ListHints,
): Answer {
  requireFields(resource, list.records, shape);
  const { currency, rows } = shapeRecords(resource, list.records, shape, list);
  const unknown = describeUnknownCurrencies(resource, list.records, shape, list.known);
  const facets = shape.detail === 'full' ? list.facets : undefined;
  return answerWithRows(rows.length, (shown) => {
    const next = shown < rows.length ? list.from + shown : list.next;
    return {
      summary: wording`${listSummary(plural, list, shown, next)}${deletedCount(resource, list, shown)}`,
      data: compact({
        currency,
        records: shown === rows.length ? rows : rows.slice(0, shown),
        page: compact({ shown, from: list.from, total: list.total, next }),
        coverage: toCoverage(list.coverage),
        facets,
      }),
      notes: [...unknown, ...listNotes(list, shown, hints)],
    };
  });
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
  plural: Plural,
  { from, total, coverage }: ListPage<unknown>,
  shown: number,
  next: number | undefined,
): Wording {
  if (shown === 0)
    return total > 0
      ? wording`No ${plural} from ${from}: there are ${total}.`
      : from > 0
        ? wording`No ${plural} from ${from}.`
        : wording`No ${plural}.`;
  const isExact = coverage.complete || coverage.reason === 'one page';
  const of = isExact ? wording`${total}` : wording`at least ${total}`;
  const slice =
    shown === total && isExact
      ? allOf(plural, total)
      : wording`${shown} of ${of} ${plural}, from ${from}`;
  return next === undefined
    ? wording`${slice}.`
    : wording`${slice}. Next: the same call with from ${next}.`;
}

/** What to try when a search found nothing. */
export const emptySearch = (findBy: Wording): Wording =>
  wording`Nothing matches. Try fewer words, another spelling or fewer filters; ${findBy}.`;

/** Today by the server's clock, in UTC. */
export const today = (): string => utcDay(new Date());

/** Amounts by currency as text: "12,500 EUR, 40 GBP and 300 USD". */
export function formatAmounts(amounts: Readonly<Record<string, number>> | undefined): Wording {
  const words = Object.entries(amounts ?? {}).map(([currency, amount]) => {
    const whole = counted(Math.round(amount));
    const isKnown = currency !== unknownCurrency && isCurrencyCode(currency);
    return isKnown ? wording`${whole} ${trusted(currency)}` : wording`${whole} (currency unknown)`;
  });
  const last = words.pop() ?? wording``;
  return words.length === 0 ? last : wording`${join(words, ', ')} and ${last}`;
}

/** Lists the records that match a text equally well, so that the caller can choose one. */
export async function ambiguousAnswer<R extends Resource>(
  tenant: Tenant,
  resource: R,
  text: string,
  { kind, candidates, total, coverage }: Exclude<Resolution<RecordOf[R]>, { kind: 'one' }>,
  call: ToolCall,
): Promise<Answer> {
  const known = await knownFor(tenant, resource, candidates, call);
  const what = trusted(resource);
  const records = candidates.map((record) => concise(resource, record, known));
  const summary =
    total === 0
      ? wording`No ${what} is called ${quote(text)}.`
      : kind === 'several'
        ? wording`Which ${what}? ${total} are called ${quote(text)}.`
        : wording`No ${what} is called exactly ${quote(text)}; ${total} ${total === 1 ? 'is' : 'are'} similar.`;
  const notes =
    total === 0
      ? [wording`Try fewer words, another spelling, or cpq_find.`]
      : total === 1
        ? [wording`Ask the person whether it is meant, then call again with its id.`]
        : [wording`Ask the person which one, then call again with its id.`];
  const shared = coverage.complete ? {} : { coverage: toCoverage(coverage) };
  return { summary, data: { records, ...shared }, notes };
}
