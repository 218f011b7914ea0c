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
  /** What the offset parameter counts; `none` where there is none to send. */
  readonly offset: 'records' | 'none';
  /** Whether the order can be asked for. */
  readonly sortable: boolean;
}

export function profileOf(resource: Resource, client: Pick<ApiClient, 'pageParam'>): RouteProfile {
  const { shape, parameters } = routes[resource];
  return {
    answers: shape === 'tree' ? 'one-answer' : 'pages',
    pageSize: 100,
    maxSize: 1_000,
    offset: client.pageParam === undefined ? 'none' : 'records',
    sortable: parameters.includes('sort'),
  };
}
