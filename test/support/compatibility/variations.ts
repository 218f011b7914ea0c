import type { Switches } from './switches.ts';

/** One difference between a service that fits the documentation and the documented one. */
export interface Variation {
  name: string;
  /** Description for readers of the matrix. */
  does: string;
  set: Partial<Switches>;
  /** The same in the documented form, where the records are others than usual. */
  like?: Partial<Switches>;
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

const references: readonly Variation[] = [
  {
    name: 'as documented',
    does: 'Nested references, `{results, total}`, pages by `from`.',
    set: {},
  },
  {
    name: 'omitted fields are kept',
    does: 'A PUT leaves alone what it leaves out.',
    set: { omitted: 'kept' },
  },
  {
    name: 'flat ids',
    does: '`companyId`, `ownerId`, `pipelineStageId`, …; no names.',
    mayFail: ['upsert of the stage'],
    set: { references: 'flat ids' },
  },
  {
    name: 'flat ids and names',
    does: 'The same with `companyDisplayValue`, `pipelineStageDisplayValue`, ….',
    set: { references: 'flat ids and names' },
  },
  {
    name: 'flat ids, filtered as flat',
    does: 'Flat rows; a filter by `company.id` matches nothing, one by `companyId` does. A PUT keeps what it leaves out.',
    set: { references: 'flat ids and names', filterKeys: 'of the rows', omitted: 'kept' },
  },
  {
    name: 'nested and flat',
    does: 'Both forms in every record.',
    set: { references: 'both' },
  },
  {
    name: 'names as references',
    does: '`company: "Acme"`, without any id.',
    set: { references: 'names' },
    mayFail: changes,
  },
  {
    name: 'bare ids as references',
    does: '`company: "x7…"`.',
    mayFail: ['upsert of the stage'],
    set: { references: 'bare ids' },
  },
  {
    name: 'contacts nest their company',
    does: '`company: {id, name}` in a contact.',
    set: { contactCompany: 'nested' },
  },
];

const counts: readonly Variation[] = [
  { name: 'envelope data', does: '`{data, total}`.', set: { envelope: 'data' } },
  { name: 'envelope items', does: '`{items, total}`.', set: { envelope: 'items' } },
  {
    name: 'bare arrays',
    does: 'Search routes answer a bare array, without a count.',
    set: { envelope: 'array' },
  },
  {
    name: 'every list in an envelope',
    does: 'Also the routes that are not searched.',
    set: { openEnvelope: 'results' },
  },
  { name: 'total as text', does: '`total: "330"`.', set: { counts: 'total as text' } },
  { name: 'meta.total', does: '`{results, meta: {total}}`.', set: { counts: 'meta.total' } },
  { name: 'totalCount', does: '`{results, totalCount}`.', set: { counts: 'totalCount' } },
  { name: 'count', does: '`{results, count}`.', set: { counts: 'count' } },
  { name: 'total.value', does: '`{results, total: {value}}`.', set: { counts: 'total.value' } },
  { name: 'no count', does: '`{results}`.', set: { counts: 'none' } },
  {
    name: 'counts the page',
    does: '`total` is the number of rows of this page.',
    set: { counts: 'rows of the page' },
  },
  {
    name: 'counts the page, clamped to 50',
    does: 'The same, and a page has at most 50 rows.',
    set: { counts: 'rows of the page', maxSize: { rows: 50, over: 'clamped' } },
  },
  {
    name: 'counts the page, short pages',
    does: 'The same, and pages in the middle are shorter than asked.',
    set: { counts: 'rows of the page', shortPages: true },
  },
  {
    name: 'meta.total, clamped to 50',
    does: '`{results, meta: {total}}`, and a page has at most 50 rows.',
    set: { counts: 'meta.total', maxSize: { rows: 50, over: 'clamped' } },
  },
  {
    name: 'totalCount, clamped to 25',
    does: '`{results, totalCount}`, and a page has at most 25 rows.',
    set: { counts: 'totalCount', maxSize: { rows: 25, over: 'clamped' } },
  },
  {
    name: 'total.value, clamped to 50',
    does: '`{results, total: {value}}`, and a page has at most 50 rows.',
    set: { counts: 'total.value', maxSize: { rows: 50, over: 'clamped' } },
  },
  {
    name: 'no count, clamped to 25',
    does: '`{results}`, and a page has at most 25 rows.',
    set: { counts: 'none', maxSize: { rows: 25, over: 'clamped' } },
  },
  {
    name: 'no count, short pages',
    does: '`{results}`, and pages in the middle are shorter than asked.',
    set: { counts: 'none', shortPages: true },
  },
  {
    name: 'bare arrays, clamped to 50',
    does: 'Bare arrays of at most 50 rows.',
    set: { envelope: 'array', maxSize: { rows: 50, over: 'clamped' } },
  },
  {
    name: 'counts to 10,000',
    does: '12,000 products; `total` stops at 10,000, and `from` behind it is refused.',
    set: { counts: 'at most 10,000', products: 12_000 },
    like: { products: 12_000 },
    partial: true,
  },
];

const sizes: readonly Variation[] = [
  {
    name: 'clamped to 25',
    does: 'A page has at most 25 rows.',
    set: { maxSize: { rows: 25, over: 'clamped' } },
  },
  {
    name: 'clamped to 50',
    does: 'A page has at most 50 rows.',
    set: { maxSize: { rows: 50, over: 'clamped' } },
  },
  {
    name: '400 over 25',
    does: '`size` over 25 is refused.',
    set: { maxSize: { rows: 25, over: 400 } },
  },
  {
    name: '400 over 50',
    does: '`size` over 50 is refused.',
    set: { maxSize: { rows: 50, over: 400 } },
  },
  {
    name: '500 over 25',
    does: '`size` over 25 is answered with 500.',
    set: { maxSize: { rows: 25, over: 500 } },
  },
  {
    name: '500 over 50',
    does: '`size` over 50 is answered with 500.',
    set: { maxSize: { rows: 50, over: 500 } },
  },
  {
    name: 'size on search routes only',
    does: 'Other routes refuse `size` and `from` by name, and answer the whole list.',
    set: { sizeOn: 'search routes' },
  },
  {
    name: 'size is refused',
    does: 'Every route refuses `size` by name; a page has 20 rows.',
    set: { sizeOn: 'no route' },
  },
  {
    name: 'other routes are whole',
    does: 'Routes that are not searched ignore `size` and `from`.',
    set: { openPages: false },
  },
];

const offsets: readonly Variation[] = [
  {
    name: 'from is ignored',
    does: 'Every page is the first one.',
    set: { fromHandling: 'ignored' },
  },
  {
    name: 'from is ignored, size is clamped',
    does: 'Every page is the first one, of at most 50 rows: the rest cannot be read.',
    set: { fromHandling: 'ignored', maxSize: { rows: 50, over: 'clamped' } },
    partial: true,
    mayFail: uncertain,
  },
  {
    name: 'from counts pages',
    does: '`from=1` is the second page.',
    set: { offset: { name: 'from', counts: 'pages', otherwise: 'ignored' } },
  },
  {
    name: 'from counts pages from 1',
    does: '`from=2` is the second page.',
    set: { offset: { name: 'from', counts: 'pages from 1', otherwise: 'ignored' } },
  },
  {
    name: 'from counts from 1',
    does: '`from=1` is the first record.',
    set: { offset: { name: 'from', counts: 'records from 1', otherwise: 'ignored' } },
  },
  {
    name: 'offset',
    does: 'The offset is called `offset`; `from` is ignored.',
    set: { offset: { name: 'offset', counts: 'records', otherwise: 'ignored' } },
  },
  {
    name: 'skip, from refused',
    does: 'The offset is called `skip`; `from` is refused by name.',
    set: { offset: { name: 'skip', counts: 'records', otherwise: 'refused' } },
  },
  {
    name: 'page from 1',
    does: 'Pages are numbered by `page`, from 1; `from` is ignored.',
    set: { offset: { name: 'page', counts: 'pages from 1', otherwise: 'ignored' } },
  },
  {
    name: 'short pages',
    does: 'Pages in the middle are shorter than asked.',
    set: { shortPages: true },
  },
  {
    name: 'hidden rows',
    does: 'Every eleventh record is counted and has its place, but is not shown.',
    set: { hidden: true },
    partial: true,
    mayFail: uncertain,
  },
];

const searches: readonly Variation[] = [
  {
    name: 'filters are ignored',
    does: 'Every record comes, whatever the filter.',
    set: { filters: 'ignored' },
  },
  {
    name: 'filters are refused',
    does: '`filters` is refused by name.',
    set: { filters: 'refused' },
    mayFail: ['filter'],
  },
  {
    name: 'query is ignored',
    does: 'Every record comes, whatever the text.',
    set: { query: 'ignored' },
  },
  {
    name: 'query is refused',
    does: '`query` is refused by name.',
    set: { query: 'refused' },
    mayFail: ['query'],
  },
  { name: 'sort is ignored', does: 'Records come in their own order.', set: { sort: 'ignored' } },
  {
    name: 'sort is refused',
    does: '`sort` is refused by name.',
    set: { sort: 'refused' },
    mayFail: ['sort'],
  },
];

const rows: readonly Variation[] = [
  {
    name: 'rows without items',
    does: 'A quote has its items by id only.',
    set: { items: 'by id only' },
    partial: true,
  },
  {
    name: 'deleted: true or false',
    does: 'Every record says `deleted`, as a boolean.',
    set: { deleted: 'boolean' },
    like: { deleted: 'boolean' },
  },
  {
    name: 'deleted: null',
    does: 'What is not deleted says `deletedAt: null`, `deleted: null`.',
    set: { deleted: 'null' },
  },
  { name: 'null where missing', does: 'Missing fields are null.', set: { missing: 'null' } },
  {
    name: 'empty where missing',
    does: 'Missing fields are empty texts.',
    set: { missing: 'empty text' },
  },
  { name: 'amounts as texts', does: '`price: "120"`.', set: { amounts: 'texts' } },
  {
    name: 'probability in percent',
    does: 'Stored and shown as 0–100, written as 0–1.',
    set: { probability: 'percent' },
    like: { probability: 'percent' },
  },
  {
    name: 'ids are integers',
    does: '`id: 4711`.',
    set: { ids: 'integers' },
    like: { ids: 'integers in texts' },
  },
  {
    name: '400 for a malformed id',
    does: 'What cannot be an id is refused, not missing.',
    set: { malformedId: 400 },
  },
  {
    name: 'integers, 400 for a malformed id',
    does: 'Both.',
    set: { ids: 'integers', malformedId: 400 },
    like: { ids: 'integers in texts' },
  },
  {
    name: 'outcome untold',
    does: 'Closed deals do not say whether they were won.',
    set: { outcomes: 'untold' },
    partial: true,
  },
  {
    name: 'snake_case',
    does: '`pipeline_stage`, `onetime_revenue`, `created_at`, ….',
    set: { fields: 'snake_case' },
  },
  {
    name: 'PascalCase',
    does: '`Id`, `Name`, `PipelineStage`, ….',
    set: { fields: 'PascalCase' },
  },
  { name: '_id', does: 'A record calls its id `_id`.', set: { idField: '_id' } },
  {
    name: 'epoch seconds',
    does: 'Dates and times are seconds since 1970.',
    set: { times: 'epoch seconds' },
  },
  {
    name: 'epoch milliseconds',
    does: 'Dates and times are milliseconds since 1970.',
    set: { times: 'epoch milliseconds' },
  },
];

/** Fields with unexpected names. */
export const strangers: readonly Variation[] = [
  {
    name: 'fields in attributes',
    does: '`{id, kind, attributes: {name, …}}`.',
    set: { fields: 'in attributes' },
    partial: true,
    mayFail: 'every',
  },
  {
    name: 'amounts by other names',
    does: '`amountOnce` instead of `onetimeRevenue`, `unitAmount` instead of `price`, …. A PUT keeps what it leaves out.',
    set: { fields: 'other amounts', omitted: 'kept' },
    partial: true,
  },
];

export const failures: readonly Variation[] = [
  {
    name: '200 with an error',
    does: 'Lists are answered with status 200, an error and empty `results`.',
    set: { emptyErrors: 'always' },
    mayFail: 'every',
    untrue: /\b(There is no|No opportunity has|No \w+ is called)\b/,
  },
  {
    name: '200 with an error, once',
    does: 'The same the first time; then the list comes.',
    set: { emptyErrors: 'first' },
  },
  {
    name: '403: account disabled',
    does: 'Every request is refused with 403 "The account is disabled".',
    set: { forbidden: 'The account is disabled' },
    mayFail: 'every',
  },
  {
    name: '45 requests left of 60',
    does: '`X-RateLimit-Limit: 60` and `X-RateLimit-Remaining: 45` on every reply.',
    set: { headers: { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '45' } },
    rateLimit: 500,
  },
  {
    name: '45 requests left of 500',
    does: 'The same of 500: few enough to be kept for single reads, if that is said.',
    set: { headers: { 'x-ratelimit-limit': '500', 'x-ratelimit-remaining': '45' } },
    mayFail: 'every',
    untrue: /used up/,
    rateLimit: 500,
  },
  {
    name: '450 requests left of 5,000',
    does: '`X-RateLimit-Limit: 5000` and `X-RateLimit-Remaining: 450` on every reply.',
    set: { headers: { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '450' } },
    rateLimit: 500,
  },
];

export const rules: readonly Variation[] = [
  {
    name: 'status not editable',
    does: 'A write is refused: the status is not Active.',
    set: { writeRule: 'status' },
    mayFail: changes,
  },
  {
    name: 'company locked, refused',
    does: 'Another company is refused once a quote was sent.',
    set: { writeRule: 'company locked' },
    mayFail: ['upsert of the company'],
  },
  {
    name: 'company locked, kept',
    does: 'Another company is accepted, and the old one stays.',
    set: { writeRule: 'company kept' },
    mayFail: ['upsert of the company'],
  },
  {
    name: 'short titles only',
    does: 'A write with a longer title than allowed is refused.',
    set: { writeRule: 'title' },
    mayFail: [...changes, creation],
  },
  {
    name: 'category required',
    does: 'A write without a category is refused.',
    set: { writeRule: 'category' },
    mayFail: [creation],
  },
  {
    name: 'revenue computed',
    does: 'Each write sets the one-time revenue to what the quoted items make.',
    set: { writeRule: 'computed' },
    partial: true,
  },
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
  const set: Partial<Switches> = Object.assign({}, ...parts.map((part) => part.set));
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
export const hidesUncounted = ({ hidden, counts, envelope }: Partial<Switches>): boolean =>
  hidden === true && (counts === 'none' || counts === 'rows of the page' || envelope === 'array');

/** Whether only a first page can be read, or nothing shows that it is complete. */
function hidesAll({
  fromHandling,
  offset,
  maxSize,
  counts,
  envelope,
  sizeOn,
}: Partial<Switches>): boolean {
  if (fromHandling !== 'ignored' && offset === undefined) return false;
  const isUncounted = counts === 'none' || counts === 'rows of the page' || envelope === 'array';
  return maxSize !== undefined || sizeOn === 'no route' || isUncounted;
}
