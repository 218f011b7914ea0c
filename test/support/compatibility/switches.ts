/** How a record names another one, such as its company. */
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
  | 'at most 10,000';

/** What the service does with a parameter that it may not know. */
type Handling = 'honoured' | 'ignored' | 'refused';

/**
 * Everything in which two services that both fit the documentation may differ. What is left out is as in
 * `documented`.
 */
export interface Switches {
  envelope: 'results' | 'data' | 'items' | 'array';
  /** The same for the routes that are not documented as searched. */
  openEnvelope: 'array' | 'results';
  counts: Counts;
  /** The largest page, and what is done about a larger one. */
  maxSize: { rows: number; over: 'clamped' | 400 | 500 };
  /** Routes whose pages have a size; on others the parameter is refused by name. */
  sizeOn: 'every route' | 'search routes' | 'no route';
  /** Whether the routes that are not documented as searched are cut into pages at all. */
  openPages: boolean;
  offset: {
    name: 'from' | 'offset' | 'skip' | 'page';
    counts: 'records' | 'records from 1' | 'pages' | 'pages from 1';
    /** What is done about `from` where the offset has another name. */
    otherwise: 'ignored' | 'refused';
  };
  fromHandling: 'honoured' | 'ignored';
  /** Every third page has fewer rows than it could have, although more follow. */
  shortPages: boolean;
  /** Every eleventh record is counted and has its place in a page, but is not shown in a list. */
  hidden: boolean;
  filters: Handling;
  /** Filters by a key that the rows do not have match nothing. */
  filterKeys: 'any' | 'of the rows';
  query: Handling;
  sort: Handling;
  /** When a list is answered with status 200, an error and no rows. */
  emptyErrors: 'never' | 'always' | 'first';
  references: References;
  contactCompany: 'flat' | 'nested';
  /** Whether the rows of a list of quotes hold their items. */
  items: 'in rows' | 'by id only';
  deleted: 'time' | 'boolean' | 'null';
  missing: 'absent' | 'null' | 'empty text';
  amounts: 'numbers' | 'texts';
  times: 'ISO' | 'epoch seconds' | 'epoch milliseconds';
  /** How the scale of a stored probability reads. */
  probability: 'share' | 'percent';
  fields: 'camelCase' | 'snake_case' | 'PascalCase' | 'in attributes' | 'other amounts';
  idField: 'id' | '_id';
  ids: 'opaque' | 'integers';
  malformedId: 404 | 400;
  /** Whether a stage or status says how a closed deal ended. */
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
}

/** The service that this server was built against, at its least forgiving: a PUT clears what it leaves out. */
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
};
