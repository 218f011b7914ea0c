import type { Route } from './routes.ts';

export interface PageQuery extends Search {
  size: number;
  /** 0-based offset of the first record. */
  from?: number | undefined;
}

/** A page in the service's own terms. */
export interface PageRequest extends Search {
  /** Left out where the service refuses it. */
  size?: number | undefined;
  /** What the offset parameter says; left out where it is 0. */
  from?: number | undefined;
  /** Name of the offset parameter where it is not the one of the settings. */
  offsetName?: string | undefined;
  /** Asked to find out whether the service takes so large a size: a 500 is not retried, and no sign of an outage. */
  probesSize?: boolean;
  /** How often it is sent at most; 3 where this is left out. */
  attempts?: number;
}

/** What is asked for of a route, whatever the page. */
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
  /** `total` is as far as the service looks: there are more. */
  countIsLimit?: boolean;
  /** The field that held the count, such as `meta.total`. */
  countedIn?: string;
  /** The service refuses a size: it decides how many records a page has. */
  withoutSize?: boolean;
  facets?: unknown;
  /** Time of the response by the service's clock, in milliseconds since the epoch. */
  answeredAt?: number;
}

/** The query of a page of a route. `pageParam` is the name of the offset parameter in the settings. */
export function queryString(
  { parameters }: Route,
  query: PageRequest,
  pageParam: string | undefined,
): string {
  const search = new URLSearchParams();
  if (query.size !== undefined) search.set('size', String(query.size));
  const { from = 0, offsetName = pageParam } = query;
  if (from > 0 && offsetName !== undefined) search.set(offsetName, String(from));
  for (const name of parameters) {
    const value = query[name];
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}
