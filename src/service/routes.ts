import { keysOf } from '../values.ts';
import type { Resource } from './records/records.ts';

export type { Resource };

/**
 * The shape of a response. `paged`: the documented search envelope with `from` and `total`. `open`: not
 * documented, a bare array or an envelope. `tree`: one nested record.
 */
type Shape = 'paged' | 'open' | 'tree';

export interface Route {
  /** Below `/public-api`; always singular, a plural is a 404. */
  readonly path: string;
  readonly shape: Shape;
  /** Query parameters, apart from the page size and the offset. */
  readonly parameters: readonly (keyof Search)[];
  /** The identifiers by which one record can be read. */
  readonly one: readonly IdField[];
}

export type IdField = 'id' | 'externalIdentifier';

const search = ['query', 'filters', 'sort'] as const;
const eitherId = ['id', 'externalIdentifier'] as const;

/** The twelve documented read routes. */
export const routes: Readonly<Record<Resource, Route>> = {
  company: { path: '/company', shape: 'paged', parameters: search, one: eitherId },
  contact: { path: '/contact', shape: 'paged', parameters: search, one: eitherId },
  opportunity: { path: '/opportunity', shape: 'paged', parameters: search, one: ['id'] },
  product: {
    path: '/product',
    shape: 'paged',
    parameters: [...search, 'includeBundles'],
    one: eitherId,
  },
  quote: { path: '/quote', shape: 'paged', parameters: search, one: ['id'] },
  quote_template: { path: '/quote-template', shape: 'open', parameters: [], one: ['id'] },
  quote_widget: { path: '/quote-widget-template', shape: 'open', parameters: [], one: ['id'] },
  pricing_book: { path: '/pricing-book', shape: 'open', parameters: [], one: ['id'] },
  category: { path: '/category', shape: 'open', parameters: [], one: [] },
  category_tree: { path: '/category/tree', shape: 'tree', parameters: ['includeEmpty'], one: [] },
  discount_group: { path: '/quote-discount-group', shape: 'open', parameters: [], one: ['id'] },
  contract_item: { path: '/contract/items', shape: 'open', parameters: ['query'], one: [] },
};

export const resources = keysOf(routes);

/** Longer than any identifier of the service. Proxies limit a path to a few thousand bytes. */
const maxIdentifierLength = 500;
/** A segment of dots only, also percent-encoded: a proxy may decode the path once more. */
const dotSegment = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\]|%2f|%5c)/i;

/**
 * True if an identifier can be one segment of a path. An empty one would address the list route, `..` the parent
 * route, and a lone surrogate has no encoding.
 */
export const isPathSegment = (identifier: string): boolean =>
  identifier.length <= maxIdentifierLength &&
  identifier.trim() !== '' &&
  identifier.isWellFormed() &&
  !dotSegment.test(identifier);

export interface PageQuery extends Search {
  size: number;
  /** 0-based offset of the first record. */
  from?: number | undefined;
}

/** A request for one page, as it is sent. */
export interface PageRequest extends Omit<PageQuery, 'size'> {
  /** Absent if the service refuses the parameter. */
  size?: number | undefined;
  /** The request tests whether the service accepts this size: a 500 is neither retried nor counted as an outage. */
  probesSize?: boolean | undefined;
  /** Maximum number of attempts. Default: 3. */
  attempts?: number | undefined;
}

/** A search of a route: the parameters that are the same for all its pages. */
export interface Search {
  query?: string | undefined;
  /** `key:v1|v2,key2:v` (comma is and, pipe is or). */
  filters?: string | undefined;
  /** `-field,+field`. */
  sort?: string | undefined;
  includeBundles?: boolean | undefined;
  includeEmpty?: boolean | undefined;
}

export interface Page<R> {
  records: R[];
  /** Number of all matches, if the service counts them. */
  total?: number;
  /** There may be more matches: `total` is a limit of the service's count, or the service calls its answer partial. */
  countIsLimit?: boolean;
  /** The service refuses the size parameter, and decides how many records a page has. */
  withoutSize?: boolean;
  /** Time of the response by the service's clock, in milliseconds since the epoch. */
  answeredAt?: number;
}
