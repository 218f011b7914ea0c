import type { ApiClient } from '../../api/client.ts';
import { routes } from '../../api/routes.ts';
import type { Resource } from '../../records/records.ts';

/**
 * How the service answers one route, as far as a reading depends on it. Everything that a reading assumes
 * about the service stands here, and nowhere else.
 */
export interface RouteProfile {
  /** `pages`: a list that may come in parts. `one-answer`: everything comes at once, as a tree does. */
  readonly answers: 'pages' | 'one-answer';
  /** What is asked for in one request, in records. */
  readonly pageSize: number;
  /** The most that is worth asking for in one request where an offset does not help. */
  readonly maxSize: number;
  /** What the offset parameter counts; `none` where there is none that helps. */
  readonly offset: 'records' | 'pages' | 'none';
  /** Whether the order can be asked for. */
  readonly sortable: boolean;
}

/** What an offset parameter does: its name, and what its value counts. */
export interface OffsetMeaning {
  readonly name: string;
  readonly counts: 'records' | 'records from 1' | 'pages' | 'pages from 1';
}

/** What was learnt of a route from its answers; what is absent was not seen yet. Times in milliseconds since 1970. */
export interface LearntTraits {
  /** When the first of it was learnt. */
  readonly since: number;
  /** The largest size that was answered. */
  readonly takenSize: number;
  /** The largest that is not refused; `none` where the parameter itself is. */
  readonly maxSize?: number | 'none';
  /** When a larger size is tried again. */
  readonly maxSizeUntil?: number;
  /** Rows of the largest page. */
  readonly mostRows: number;
  /** `ignored`: every page is the first one. */
  readonly offset?: OffsetMeaning | 'ignored';
  /** When the offset was found out. */
  readonly offsetAt?: number;
  /** The field that holds the count, such as `meta.total`; `none` where nothing is counted. */
  readonly countedIn?: string;
  /** `page`: what is called the total counts the rows of the page. */
  readonly counts?: 'all' | 'page';
  /** A round count that was looked behind. */
  readonly checkedCount?: number;
  /** A count that was found to be a limit, such as a search engine's 10,000. */
  readonly countLimit?: number;
  /** What a page that is shorter than asked means: no more fit, or some of its places are not shown. */
  readonly shortPages?: 'fewer' | 'hidden';
  /** Whether a filter, a text or an order has an effect, by what it is about. */
  readonly honoured: Readonly<Record<string, boolean>>;
  /** Of quotes: whether the rows of a list have their items, or only the record by id. */
  readonly items?: 'in rows' | 'by id';
}

export const nothingLearnt = (now: number): LearntTraits => ({
  since: now,
  takenSize: 0,
  mostRows: 0,
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
    pageSize: 100,
    maxSize: 1_000,
    offset: client.pageParam === undefined ? 'none' : unitOf(offset),
    sortable: parameters.includes('sort'),
  };
}

function unitOf(offset: LearntTraits['offset']): RouteProfile['offset'] {
  if (offset === 'ignored') return 'none';
  return offset?.counts.startsWith('pages') ? 'pages' : 'records';
}
