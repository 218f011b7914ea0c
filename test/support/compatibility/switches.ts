import type { Rewrite } from './reply.ts';

/** How a record refers to another one, such as its company. */
export type References =
  | 'nested'
  | 'flat ids'
  | 'flat ids and names'
  | 'both'
  | 'names'
  | 'bare ids';

/** Where a list says how many records match. */
type Counts =
  | 'total'
  | 'total as text'
  | 'meta.total'
  | 'totalCount'
  | 'count'
  | 'total.value'
  | 'none'
  | 'rows of the page'
  | 'at most 1,000'
  | 'at most 10,000';

/** How the service treats a parameter that it may not know. */
type Handling = 'honoured' | 'ignored' | 'refused';

/**
 * Everything in which two services that both fit the documentation may differ. Omitted switches are as in
 * `documented`.
 */
export interface Switches {
  envelope: 'results' | 'data' | 'items' | 'array';
  /** The envelope of the routes that are not documented as searches. */
  openEnvelope: 'array' | 'results';
  counts: Counts;
  /** The largest page, and what happens if a larger one is requested. */
  maxSize: { rows: number; over: 'clamped' | 400 | 500 };
  /** Routes whose pages have a size; on others the parameter is refused by name. */
  sizeOn: 'every route' | 'search routes' | 'no route';
  /** Whether the routes that are not documented as searches are paged. */
  openPages: boolean;
  offset: {
    name: 'from' | 'offset' | 'skip' | 'page';
    counts: 'records' | 'records from 1' | 'pages' | 'pages from 1';
    /** How `from` is treated where the offset has another name. */
    otherwise: 'ignored' | 'refused';
  };
  fromHandling: 'honoured' | 'ignored';
  /** Every third page has fewer rows than requested, although more follow. */
  shortPages: boolean;
  /** Every eleventh record is counted and takes a place in a page, but is not returned in lists. */
  hidden: boolean;
  /** `any word`: a search engine finds every record that has one of the words in any field. */
  filters: Handling | 'any word';
  /** Filters by a key that the rows do not have match nothing. */
  filterKeys: 'any' | 'of the rows';
  query: Handling;
  sort: Handling;
  /** When a list is answered with status 200 and an error instead of rows. */
  emptyErrors: 'never' | 'always' | 'first';
  references: References;
  contactCompany: 'flat' | 'nested';
  /** Whether the rows of a list of quotes hold their items. */
  items: 'in rows' | 'by id only';
  deleted: 'time' | 'boolean' | 'null';
  missing: 'absent' | 'null' | 'empty text';
  amounts: 'numbers' | 'texts';
  times: 'ISO' | 'epoch seconds' | 'epoch milliseconds';
  /** The scale of stored probabilities. */
  probability: 'share' | 'percent';
  fields: 'camelCase' | 'snake_case' | 'PascalCase' | 'in attributes' | 'other amounts';
  idField: 'id' | '_id';
  ids: 'opaque' | 'integers' | 'integers in texts' | '19 digits' | '19 digits in texts';
  malformedId: 404 | 400;
  /** Whether the stage or status of a closed deal says whether it was won. */
  outcomes: 'told' | 'untold';
  products: number;
  /** Sent with every reply. */
  headers: Readonly<Record<string, string>>;
  /** Every request is refused with 403 and these words. */
  forbidden: string | undefined;
  /** What a PUT does with a field that is left out. */
  omitted: 'kept' | 'cleared';
  writeRule:
    | 'none'
    | 'status'
    | 'company locked'
    | 'company kept'
    | 'title'
    | 'category'
    | 'computed';
  /** Changes every reply before it is sent; made anew for each service. */
  rewrite: (() => Rewrite) | undefined;
}

/** The documented service in its strictest form: a PUT clears omitted fields. */
export const documented: Switches = {
  envelope: 'results',
  openEnvelope: 'array',
  counts: 'total',
  maxSize: { rows: 1_000, over: 'clamped' },
  sizeOn: 'every route',
  openPages: true,
  offset: { name: 'from', counts: 'records', otherwise: 'ignored' },
  fromHandling: 'honoured',
  shortPages: false,
  hidden: false,
  filters: 'honoured',
  filterKeys: 'any',
  query: 'honoured',
  sort: 'honoured',
  emptyErrors: 'never',
  references: 'nested',
  contactCompany: 'flat',
  items: 'in rows',
  deleted: 'time',
  missing: 'absent',
  amounts: 'numbers',
  times: 'ISO',
  probability: 'share',
  fields: 'camelCase',
  idField: 'id',
  ids: 'opaque',
  malformedId: 404,
  outcomes: 'told',
  products: 240,
  headers: {},
  forbidden: undefined,
  omitted: 'cleared',
  writeRule: 'none',
  rewrite: undefined,
};
