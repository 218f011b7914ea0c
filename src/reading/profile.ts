import type { ApiClient } from '../service/client.ts';
import type { Resource } from '../service/records/records.ts';
import { routes } from '../service/routes.ts';

/** Records per request of a reading. */
export const pageSize = 100;

/** The properties of one route that reading a collection depends on. */
export interface RouteProfile {
  /** `pages`: a list that may be paged. `one-answer`: one response contains everything, such as a tree. */
  readonly answers: 'pages' | 'one-answer';
  /** What the offset parameter counts; `none` without a usable one. */
  readonly offset: 'records' | 'pages' | 'none';
  /** Whether the route can sort. */
  readonly sortable: boolean;
}

/** What an offset parameter does: its name, and what its value counts. */
export interface OffsetMeaning {
  readonly name: string;
  readonly counts: 'records' | 'records from 1' | 'pages' | 'pages from 1';
}

/** Properties of a route learnt from its responses; absent ones are unknown. Times in milliseconds since 1970. */
export interface LearntTraits {
  /** When the first property was learnt. */
  readonly since: number;
  /** The largest size that worked. */
  readonly takenSize: number;
  /** The largest accepted size; `none` if the parameter itself is refused. */
  readonly maxSize?: number | 'none';
  /** When a larger size is tried again. */
  readonly maxSizeUntil?: number;
  /** Rows of the largest page. */
  readonly maxRows: number;
  /** `ignored`: every page is the first one. */
  readonly offset?: OffsetMeaning | 'ignored';
  /** When the meaning of the offset was learnt. */
  readonly offsetAt?: number;
  /** The field with the total, such as `meta.total`; `none` without a total. */
  readonly countedIn?: string;
  /** `page`: the total is the number of rows of the page. */
  readonly counts?: 'all' | 'page';
  /** A total that was checked by requesting the records after it. */
  readonly checkedCount?: number;
  /** A total that is a limit, such as a search engine's 10,000. */
  readonly countLimit?: number;
  /** Why pages are shorter than requested: a smaller page size (`fewer`), or omitted records (`hidden`). */
  readonly shortPages?: 'fewer' | 'hidden';
  /** Whether a filter, a search text or a sort order has an effect, by parameter and fields. */
  readonly honoured: Readonly<Record<string, boolean>>;
  /** Of quotes: whether the rows of a list have their items, or only the record by id. */
  readonly items?: 'in rows' | 'by id';
}

export const nothingLearnt = (now: number): LearntTraits => ({
  since: now,
  takenSize: 0,
  maxRows: 0,
  honoured: {},
});

export function profileOf(
  resource: Resource,
  client: Pick<ApiClient, 'pageParam'>,
  offset?: LearntTraits['offset'],
): RouteProfile {
  const { shape, parameters } = routes[resource];
  return {
    answers: shape === 'tree' ? 'one-answer' : 'pages',
    offset: client.pageParam === undefined ? 'none' : unitOf(offset),
    sortable: parameters.includes('sort'),
  };
}

function unitOf(offset: LearntTraits['offset']): RouteProfile['offset'] {
  if (offset === 'ignored') return 'none';
  return offset?.counts.startsWith('pages') ? 'pages' : 'records';
}
