import type { ApiClient } from '../../api/client.ts';
import type { Resource } from '../../api/records.ts';
import { routes } from '../../api/routes.ts';

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

/** The first records of a route, to compare a later page with. */
interface Sample {
  /** The search, as text. */
  readonly search: string;
  readonly keys: readonly unknown[];
  /** What the service counted. */
  readonly total: number | undefined;
}

/** What was learnt of a route from its answers; what is absent was not seen yet. */
export interface LearntTraits {
  /** The largest size that was answered. */
  takenSize: number;
  /** The largest that is not refused; `none` where the parameter itself is. */
  maxSize?: number | 'none';
  /** Rows of the largest page. */
  mostRows: number;
  /** `ignored`: every page is the first one. */
  offset?: OffsetMeaning | 'ignored';
  /** `page`: what is called the total counts the rows of the page. */
  counts?: 'all' | 'page';
  /** A round count that was looked behind. */
  checkedCount?: number;
  /** A count that was found to be a limit, such as a search engine's 10,000. */
  countLimit?: number;
  /** What a page that is shorter than asked means: no more fit, or some of its places are not shown. */
  shortPages?: 'fewer' | 'hidden';
  /** Whether a filter, a text or an order has an effect, by what it is about. */
  readonly honoured: Map<string, boolean>;
  sample?: Sample;
}

export const nothingLearnt = (): LearntTraits => ({
  takenSize: 0,
  mostRows: 0,
  honoured: new Map(),
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
