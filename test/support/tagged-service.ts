import { type Resource, resources, routes } from '../../src/service/routes.ts';
import { type LocalServer, listen } from './local-server.ts';

/** A service whose records contain a tag of their tenant, so that an answer to the wrong tenant is noticed. */
export interface TaggedService extends LocalServer {
  /** Received requests, in order. */
  arrived: { path: string; from: number; at: number }[];
}

export const taggedCount = 24;
/** Records in a page. */
const pageSize = 10;

/** `tagOf` gives the tag of a key, which every id and name for that key contains; `later` delays answers. */
export async function startTaggedService(
  tagOf: (key: string) => string,
  later: (answer: () => void) => void = (answer) => void setImmediate(answer),
): Promise<TaggedService> {
  const arrived: TaggedService['arrived'] = [];
  const server = await listen((request, response) => {
    const url = new URL(request.url ?? '/', 'http://home');
    const path = url.pathname.replace('/public-api', '');
    arrived.push({ path, from: Number(url.searchParams.get('from') ?? 0), at: Date.now() });
    const tag = tagOf(String(request.headers['api-key']));
    response.setHeader('content-type', 'application/json');
    later(() => response.end(JSON.stringify(answerTo(path, url.searchParams, tag))));
  });
  return { ...server, arrived };
}

function answerTo(path: string, search: URLSearchParams, tag: string): unknown {
  const resource = resources.findLast((name) => path.startsWith(routes[name].path)) ?? 'company';
  const all = recordsOf(resource, tag);
  const id = path.slice(routes[resource].path.length + 1);
  if (id !== '' && resource !== 'category_tree') return all.find((record) => record.id === id);
  if (routes[resource].shape === 'tree') return all;
  const [from = 0, size] = ['from', 'size'].map((name) => Number(search.get(name) ?? 0));
  const results = all.slice(from, from + Math.min(size || 20, pageSize));
  return { results, total: all.length };
}

const recordsOf = (resource: Resource, tag: string) =>
  Array.from({ length: taggedCount }, (_, at) => ({
    id: `${tag}-${resource}-${at}`,
    name: `${tag} ${resource} ${at}`,
    title: `${tag} ${at}`,
    number: `${tag}-${at}`,
    status: 'sent',
    company: { id: `${tag}-company-${at}`, name: `${tag} company ${at}` },
    onetimeRevenue: at,
    items: [{ name: `${tag} item`, quantity: 1, price: at }],
    createdAt: '2025-01-01T00:00:00.000Z',
  }));
