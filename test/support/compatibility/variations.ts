import { only, type When } from '../upstream/behaviour.ts';
import type { Choices } from './service.ts';

/** One difference between a service that fits the documentation and the documented one. */
export interface Variation {
  name: string;
  /** Description for readers of the matrix. */
  does: string;
  set: Choices;
  /** The same in the documented form, where the records are others than usual. */
  like?: Choices;
  /**
   * Questions and writes that may end with an error, because the difference prevents an answer; `every` for a service that
   * answers nothing.
   */
  mayFail?: readonly string[] | 'every';
  /** Some answers are partial, or say what is unknown; all others are right. */
  partial?: boolean;
  /** Questions whose answer leaves something out without saying so first: to be mended, and then taken off. */
  quiet?: readonly string[];
  /** Words that such an error must not contain. */
  untrue?: RegExp;
  /** The rate limit in the server's settings, in requests per ten minutes. */
  rateLimit?: number;
}

/** Changes of an existing opportunity. */
const changes = ['upsert', 'upsert by external id', 'upsert of the company', 'upsert of the stage'];
const creation = 'upsert of a new one';
/** Writes that need to know every record of a kind. */
const uncertain = ['upsert of the company', 'upsert of the stage', creation];

const vary = (
  name: string,
  does: string,
  set: Choices,
  more: Omit<Variation, 'name' | 'does' | 'set'> = {},
): Variation => ({ name, does, set, ...more });

const references: readonly Variation[] = [
  vary('as documented', 'Nested references, `{results, total}`, pages by `from`.', {}),
  vary('omitted fields are kept', 'A PUT leaves alone what it leaves out.', { omitted: 'kept' }),
  vary(
    'flat ids',
    '`companyId`, `ownerId`, `pipelineStageId`, …; no names.',
    { references: 'flat ids' },
    { mayFail: ['upsert of the stage'] },
  ),
  vary(
    'flat ids and names',
    'The same with `companyDisplayValue`, `pipelineStageDisplayValue`, ….',
    { references: 'flat ids and names' },
  ),
  vary(
    'flat ids, filtered as flat',
    'Flat rows; a filter by `company.id` matches nothing, one by `companyId` does. A PUT keeps what it leaves out.',
    { references: 'flat ids and names', flatFilterKeys: true, omitted: 'kept' },
  ),
  vary('nested and flat', 'Both forms in every record.', { references: 'both' }),
  vary(
    'names as references',
    '`company: "Acme"`, without any id.',
    { references: 'names' },
    { mayFail: changes },
  ),
  vary(
    'bare ids as references',
    '`company: "x7…"`.',
    { references: 'bare ids' },
    { mayFail: ['upsert of the stage'] },
  ),
  vary('contacts nest their company', '`company: {id, name}` in a contact.', {
    nestedCompany: true,
  }),
];

const counts: readonly Variation[] = [
  vary('envelope data', '`{data, total}`.', { searchEnvelope: 'data' }),
  vary('envelope items', '`{items, total}`.', { searchEnvelope: 'items' }),
  vary('bare arrays', 'Search routes answer a bare array, without a count.', {
    searchEnvelope: 'array',
  }),
  vary('every list in an envelope', 'Also the routes that are not searched.', {
    envelope: 'results',
  }),
  vary('total as text', '`total: "330"`.', { total: 'text' }),
  vary('meta.total', '`{results, meta: {total}}`.', { total: 'meta.total' }),
  vary('totalCount', '`{results, totalCount}`.', { total: 'totalCount' }),
  vary('count', '`{results, count}`.', { total: 'count' }),
  vary('total.value', '`{results, total: {value}}`.', { total: 'total.value' }),
  vary('no count', '`{results}`.', { total: 'absent' }),
  vary('counts the page', '`total` is the number of rows of this page.', {
    total: 'rows of the page',
  }),
  vary('counts the page, clamped to 50', 'The same, and a page has at most 50 rows.', {
    total: 'rows of the page',
    maxSize: 50,
  }),
  vary(
    'counts the page, short pages',
    'The same, and pages in the middle are shorter than asked.',
    { total: 'rows of the page', shortReads: 'every third page' },
  ),
  vary('meta.total, clamped to 50', '`{results, meta: {total}}`, and a page has at most 50 rows.', {
    total: 'meta.total',
    maxSize: 50,
  }),
  vary('totalCount, clamped to 25', '`{results, totalCount}`, and a page has at most 25 rows.', {
    total: 'totalCount',
    maxSize: 25,
  }),
  vary(
    'total.value, clamped to 50',
    '`{results, total: {value}}`, and a page has at most 50 rows.',
    { total: 'total.value', maxSize: 50 },
  ),
  vary('no count, clamped to 25', '`{results}`, and a page has at most 25 rows.', {
    total: 'absent',
    maxSize: 25,
  }),
  vary('no count, short pages', '`{results}`, and pages in the middle are shorter than asked.', {
    total: 'absent',
    shortReads: 'every third page',
  }),
  vary('bare arrays, clamped to 50', 'Bare arrays of at most 50 rows.', {
    searchEnvelope: 'array',
    maxSize: 50,
  }),
  vary(
    'counts to 10,000',
    '12,000 products; `total` stops at 10,000, and `from` behind it is refused.',
    { total: { window: 10_000 }, products: 12_000 },
    { like: { products: 12_000 }, partial: true },
  ),
];

const sizes: readonly Variation[] = [
  vary('clamped to 25', 'A page has at most 25 rows.', { maxSize: 25 }),
  vary('clamped to 50', 'A page has at most 50 rows.', { maxSize: 50 }),
  vary('400 over 25', '`size` over 25 is refused.', { maxSize: { rows: 25, over: 400 } }),
  vary('400 over 50', '`size` over 50 is refused.', { maxSize: { rows: 50, over: 400 } }),
  vary('500 over 25', '`size` over 25 is answered with 500.', { maxSize: { rows: 25, over: 500 } }),
  vary('500 over 50', '`size` over 50 is answered with 500.', { maxSize: { rows: 50, over: 500 } }),
  vary(
    'size on search routes only',
    'Other routes refuse `size` and `from` by name, and answer the whole list.',
    { sizeOn: 'search routes' },
  ),
  vary('size is refused', 'Every route refuses `size` by name; a page has 20 rows.', {
    sizeOn: 'no route',
  }),
  vary('other routes are whole', 'Routes that are not searched ignore `size` and `from`.', {
    everything: 'open routes',
  }),
];

/** A tree has no count, so that nothing shows what is hidden. */
const outsideTree: When = { if: ({ route }) => route !== '/category/tree' };

const offsets: readonly Variation[] = [
  vary('from is ignored', 'Every page is the first one.', { ignoreFrom: true }),
  vary(
    'from is ignored, size is clamped',
    'Every page is the first one, of at most 50 rows: the rest cannot be read.',
    { ignoreFrom: true, maxSize: 50 },
    { partial: true, mayFail: uncertain },
  ),
  vary('from counts pages', '`from=1` is the second page.', {
    offset: { counts: 'pages' },
  }),
  vary('from counts pages from 1', '`from=2` is the second page.', {
    offset: { counts: 'pages from 1' },
  }),
  vary('from counts from 1', '`from=1` is the first record.', {
    offset: { counts: 'records from 1' },
  }),
  vary('offset', 'The offset is called `offset`; `from` is ignored.', {
    offset: { name: 'offset' },
  }),
  vary('skip, from refused', 'The offset is called `skip`; `from` is refused by name.', {
    offset: { name: 'skip', refusesFrom: true },
  }),
  vary('page from 1', 'Pages are numbered by `page`, from 1; `from` is ignored.', {
    offset: { name: 'page', counts: 'pages from 1' },
  }),
  vary('short pages', 'Pages in the middle are shorter than asked.', {
    shortReads: 'every third page',
  }),
  vary(
    'hidden rows',
    'One record in seventeen is counted and has its place, but is not shown.',
    { hidden: only({ oneIn: 17, counted: true }, outsideTree) },
    { partial: true, mayFail: uncertain },
  ),
];

const searches: readonly Variation[] = [
  vary('filters are ignored', 'Every record comes, whatever the filter.', { filters: 'ignored' }),
  vary(
    'filters are refused',
    '`filters` is refused by name.',
    { filters: 'refused' },
    { mayFail: ['filter'] },
  ),
  vary('query is ignored', 'Every record comes, whatever the text.', { query: 'ignored' }),
  vary(
    'query is refused',
    '`query` is refused by name.',
    { query: 'refused' },
    { mayFail: ['query'] },
  ),
  vary('sort is ignored', 'Records come in their own order.', { sort: 'ignored' }),
  vary('sort is refused', '`sort` is refused by name.', { sort: 'refused' }, { mayFail: ['sort'] }),
];

const rows: readonly Variation[] = [
  vary(
    'rows without items',
    'A quote has its items by id only.',
    { itemsById: true },
    { partial: true },
  ),
  vary(
    'deleted: true or false',
    'Every record says `deleted`, as a boolean.',
    { deleted: 'boolean' },
    { like: { deleted: 'boolean' } },
  ),
  vary('deleted: null', 'What is not deleted says `deletedAt: null`, `deleted: null`.', {
    deleted: 'null',
  }),
  vary('null where missing', 'Missing fields are null.', { missing: 'null' }),
  vary('empty where missing', 'Missing fields are empty texts.', { missing: 'empty text' }),
  vary('amounts as texts', '`price: "120"`.', { amounts: 'texts' }),
  vary(
    'probability in percent',
    'Stored and shown as 0–100, written as 0–1.',
    { probability: 'percent' },
    { like: { probability: 'percent' } },
  ),
  vary(
    'ids are integers',
    '`id: 4711`.',
    { ids: 'integers' },
    { like: { ids: 'integers in texts' } },
  ),
  vary('400 for a malformed id', 'What cannot be an id is refused, not missing.', {
    refusesMalformedIds: true,
  }),
  vary(
    'integers, 400 for a malformed id',
    'Both.',
    { ids: 'integers', refusesMalformedIds: true },
    { like: { ids: 'integers in texts' } },
  ),
  vary(
    'outcome untold',
    'Closed deals do not say whether they were won.',
    { outcomes: 'untold' },
    { partial: true },
  ),
  vary('snake_case', '`pipeline_stage`, `onetime_revenue`, `created_at`, ….', {
    fields: 'snake_case',
  }),
  vary('PascalCase', '`Id`, `Name`, `PipelineStage`, ….', { fields: 'PascalCase' }),
  vary('_id', 'A record calls its id `_id`.', { idField: '_id' }),
  vary('epoch seconds', 'Dates and times are seconds since 1970.', { times: 'epoch seconds' }),
  vary('epoch milliseconds', 'Dates and times are milliseconds since 1970.', {
    times: 'epoch milliseconds',
  }),
];

/** Fields with unexpected names. */
export const strangers: readonly Variation[] = [
  vary(
    'fields in attributes',
    '`{id, kind, attributes: {name, …}}`.',
    { fields: 'in attributes' },
    { partial: true, mayFail: 'every' },
  ),
  vary(
    'amounts by other names',
    '`amountOnce` instead of `onetimeRevenue`, `unitAmount` instead of `price`, …. A PUT keeps what it leaves out.',
    { fields: 'other amounts', omitted: 'kept' },
    { partial: true },
  ),
];

const emptyError = {
  text: '{"error":"search backend unavailable","message":"try later","results":[],"total":0}',
};
const lists: When = {
  if: ({ endpoint, route }) => endpoint === route && route !== '/category/tree',
};

export const failures: readonly Variation[] = [
  vary(
    '200 with an error',
    'Lists are answered with status 200, an error and empty `results`.',
    { instead: only(emptyError, lists) },
    {
      mayFail: 'every',
      untrue: /\b(There is no|No opportunity has|No \w+ is called|None has the)\b/,
    },
  ),
  vary('200 with an error, once', 'The same the first time; then the list comes.', {
    instead: only(emptyError, { ...lists, first: 1, per: 'path' }),
  }),
  vary(
    '403: account disabled',
    'Every request is refused with 403 "The account is disabled".',
    { status: { code: 403, message: 'The account is disabled' } },
    { mayFail: 'every' },
  ),
  vary(
    '45 requests left of 60',
    '`X-RateLimit-Limit: 60` and `X-RateLimit-Remaining: 45` on every reply.',
    { headers: { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '45' } },
    { rateLimit: 500 },
  ),
  vary(
    '45 requests left of 500',
    'The same of 500: few enough to be kept for single reads, if that is said.',
    { headers: { 'x-ratelimit-limit': '500', 'x-ratelimit-remaining': '45' } },
    { mayFail: 'every', untrue: /used up/, rateLimit: 500 },
  ),
  vary(
    '450 requests left of 5,000',
    '`X-RateLimit-Limit: 5000` and `X-RateLimit-Remaining: 450` on every reply.',
    { headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '450' } },
    { rateLimit: 500 },
  ),
];

export const rules: readonly Variation[] = [
  vary(
    'status not editable',
    'A write is refused: the status is not Active.',
    { writeRule: 'status' },
    { mayFail: changes },
  ),
  vary(
    'company locked, refused',
    'Another company is refused once a quote was sent.',
    { writeRule: 'company locked' },
    { mayFail: ['upsert of the company'] },
  ),
  vary(
    'company locked, kept',
    'Another company is accepted, and the old one stays.',
    { writeRule: 'company kept' },
    { mayFail: ['upsert of the company'] },
  ),
  vary(
    'short titles only',
    'A write with a longer title than allowed is refused.',
    { writeRule: 'title' },
    { mayFail: [...changes, creation] },
  ),
  vary(
    'category required',
    'A write without a category is refused.',
    { writeRule: 'category' },
    { mayFail: [creation] },
  ),
  vary(
    'revenue computed',
    'Each write sets the one-time revenue to what the quoted items make.',
    { writeRule: 'computed' },
    { partial: true },
  ),
];

/** Variations of different axes can be combined; those of one axis exclude each other. */
export const axes = { references, counts, sizes, offsets, searches, rows } as const;

/** Every variation that the documentation allows, each alone. */
export const variations: readonly Variation[] = [
  ...Object.values(axes).flat(),
  ...strangers,
  ...failures,
  ...rules,
];

/** Several variations at once. A probe that may fail with one of them may fail with all. */
export function combined(parts: readonly Variation[]): Variation {
  const mayFail = parts.flatMap((part) => (part.mayFail === 'every' ? [] : (part.mayFail ?? [])));
  const set: Choices = Object.assign({}, ...parts.map((part) => part.set));
  return {
    name: parts.map(({ name }) => name).join(' + '),
    does: parts.map(({ does }) => does).join(' '),
    set,
    quiet: parts.flatMap((part) => part.quiet ?? []),
    like: Object.assign({}, ...parts.map((part) => part.like)),
    mayFail: hidesAll(set) ? [...mayFail, ...uncertain] : mayFail,
  };
}

/**
 * Whether no answer can say what is missing: hidden records are noticed only if they are counted. Without a count, a short
 * list that hides its last records looks complete.
 */
export const hidesUncounted = ({ hidden, ...choices }: Choices): boolean =>
  hidden !== undefined && isUncounted(choices);

const isUncounted = ({ total, searchEnvelope }: Choices): boolean =>
  total === 'absent' || total === 'rows of the page' || searchEnvelope === 'array';

/** Whether only a first page can be read, or nothing shows that it is complete. */
function hidesAll(choices: Choices): boolean {
  const { ignoreFrom, offset, maxSize, sizeOn } = choices;
  if (ignoreFrom === undefined && offset === undefined) return false;
  return maxSize !== undefined || sizeOn === 'no route' || isUncounted(choices);
}
