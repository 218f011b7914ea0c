import type { Resource } from './records.ts';

export type { Resource };

/**
 * `paged`: the documented search envelope with `from` and `total`. `open`: what comes back is not
 * documented (a bare array or an envelope), so it is read adaptively. `tree`: one nested answer.
 */
export type Shape = 'paged' | 'open' | 'tree';

export type Parameter = 'query' | 'filters' | 'sort' | 'includeBundles' | 'includeEmpty';

export interface Route {
  /** Below `/public-api`; always singular, a plural is a 404. */
  readonly path: string;
  readonly shape: Shape;
  /** Query parameters beside the page size and offset. */
  readonly parameters: readonly Parameter[];
  /** How one record can be read. */
  readonly one: readonly ('id' | 'externalIdentifier')[];
}

const search = ['query', 'filters', 'sort'] as const;

/** The twelve documented read routes. */
export const routes: Readonly<Record<Resource, Route>> = {
  company: {
    path: '/company',
    shape: 'paged',
    parameters: search,
    one: ['id', 'externalIdentifier'],
  },
  contact: {
    path: '/contact',
    shape: 'paged',
    parameters: search,
    one: ['id', 'externalIdentifier'],
  },
  opportunity: { path: '/opportunity', shape: 'paged', parameters: search, one: ['id'] },
  product: {
    path: '/product',
    shape: 'paged',
    parameters: [...search, 'includeBundles'],
    one: ['id', 'externalIdentifier'],
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

export const resources = Object.keys(routes) as Resource[];

/** Longer than any identifier of the service; a path is limited to a few thousand bytes on the way. */
const maxIdentifierLength = 500;
/** Dots alone between slashes, also where they were encoded before: a proxy on the way may decode once more. */
const dotSegment = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\]|%2f|%5c)/i;

/**
 * Whether an identifier can be one segment of a path. What cannot is no record's: an empty one names the list
 * route, `..` the route above, half a character has no encoding.
 */
export const isPathSegment = (identifier: string): boolean =>
  identifier.length <= maxIdentifierLength &&
  identifier.trim() !== '' &&
  identifier.isWellFormed() &&
  !dotSegment.test(identifier);

/** The one write: creates or updates the opportunity of that external identifier. */
export const upsertPath = (externalIdentifier: string): string =>
  `/opportunity/ext/${encodeURIComponent(externalIdentifier)}`;
