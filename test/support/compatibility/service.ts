import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Row } from '../hosts.ts';
import { type LocalServer, listen } from '../local-server.ts';
import { byExternalIdentifier, byId } from '../upstream/answer.ts';
import { isReply, pageOf, refusal, refusedParameter, wrapped } from './paging.ts';
import type { Reply, Request, Rewrite } from './reply.ts';
import { searched } from './search.ts';
import { type ListPath, makeStoredData, type Named, type StoredData } from './stored-data.ts';
import { documented, type Switches } from './switches.ts';
import { shown } from './view.ts';
import { upsert } from './write.ts';

/** A tenant of the service over HTTP, with access to what it stores. */
export interface Service extends LocalServer {
  key: string;
  storedData: StoredData;
  on: Switches;
  /** The records of a list that it does not hide. */
  visible(path: ListPath): readonly Row[];
  /** Number of requests answered. */
  requests(): number;
  /** Applies from the next request on. */
  set(change: Partial<Switches>): void;
}

interface State {
  storedData: StoredData;
  on: Switches;
  /** Lists that have been answered with an error before. */
  failed: Set<ListPath>;
}

const key = 'CompatibilityKey0123456789';
const prefix = '/public-api';

const isList = (storedData: StoredData, path: string): path is ListPath =>
  Object.hasOwn(storedData, path);

function emptyError(path: ListPath, { on, failed }: State): Reply | undefined {
  const again = on.emptyErrors === 'first' && failed.has(path);
  failed.add(path);
  if (on.emptyErrors === 'never' || again) return undefined;
  const body = { error: 'search backend unavailable', message: 'try later', results: [], total: 0 };
  return { status: 200, body };
}

/** The same records for every request. */
const isHidden = (at: number): boolean => at % 11 === 10;

function visible(path: ListPath, rows: readonly Row[], { storedData, on }: State): readonly Row[] {
  if (!on.hidden) return rows;
  const all = storedData[path] as unknown as Row[];
  return rows.filter((record) => !isHidden(all.indexOf(record)));
}

function list(path: ListPath, query: URLSearchParams, state: State): Reply {
  const { storedData, on } = state;
  const refused = refusedParameter(path, query, on) ?? emptyError(path, state);
  if (refused) return refused;
  const found = searched<Row>(storedData[path] as unknown as Row[], query, on);
  const rows = pageOf(path, found, query, on);
  if (isReply(rows)) return rows;
  const page = visible(path, rows, state).map((record) => shown(path, record, 'row', on));
  return { status: 200, body: wrapped(path, page, found.length, on) };
}

/** Two levels: every fifth category is the parent of the four behind it. */
function tree(query: URLSearchParams, { storedData, on }: State): Reply {
  if (on.sizeOn !== 'every route' && query.has('size')) {
    return refusal(400, 'property size should not exist');
  }
  const all = storedData['/category'].map((it) => shown('/category', it, 'row', on));
  const roots = all.filter((_, index) => index % 5 === 0);
  const body = roots.map((root, at) => ({ ...root, children: all.slice(at * 5 + 1, at * 5 + 5) }));
  return { status: 200, body };
}

/** Whether the id is invalid for this service: too short, or not a number where ids are numbers. */
const isMalformed = (id: string, { ids }: Switches): boolean =>
  ids !== 'opaque' ? !/^\d+$/.test(id) : !/^[a-z0-9]{20}$/.test(id);

function recordOf(path: ListPath, id: string, { storedData, on }: State): Reply {
  if (on.malformedId === 400 && isMalformed(id, on)) return refusal(400, 'id must be a valid id');
  const records = storedData[path] as unknown as (Named & Row)[];
  const record = records.find((it) => String(it.id) === id);
  if (!record) return refusal(404, 'Not found');
  return { status: 200, body: shown(path, record, 'record', on) };
}

function byExternal(path: ListPath, id: string, { storedData, on }: State): Reply {
  const records = byExternalIdentifier.has(path) ? (storedData[path] as unknown as Row[]) : [];
  const record = records.find((it) => it.externalIdentifier === id);
  if (!record) return refusal(404, 'Not found');
  return { status: 200, body: shown(path, record, 'record', on) };
}

function put({ path, body }: Request, { storedData, on }: State): Reply {
  const [, external] = /^\/opportunity\/ext\/([^/]+)$/.exec(path) ?? [];
  if (external === undefined) return refusal(404, 'Cannot PUT this');
  const stored = upsert(storedData, decodeURIComponent(external), body, on);
  if (isReply(stored)) return stored;
  return { status: 200, body: shown('/opportunity', stored as unknown as Row, 'record', on) };
}

function get({ path, query }: Request, state: State): Reply {
  const { storedData } = state;
  if (isList(storedData, path)) return list(path, query, state);
  if (path === '/category/tree') return tree(query, state);
  const [, route = '', infix, id = ''] = /^(\/[a-z-]+)\/(ext\/)?([^/]+)$/.exec(path) ?? [];
  if (!isList(storedData, route) || !byId.has(route)) return refusal(404, 'Cannot GET this');
  const wanted = decodeURIComponent(id);
  return infix ? byExternal(route, wanted, state) : recordOf(route, wanted, state);
}

function answer(request: Request, sentKey: unknown, state: State): Reply {
  const { forbidden } = state.on;
  if (sentKey !== key) return refusal(403, 'API key not valid');
  if (forbidden !== undefined) return refusal(403, forbidden);
  return request.method === 'PUT' ? put(request, state) : get(request, state);
}

async function read(incoming: IncomingMessage): Promise<Request> {
  const url = new URL(incoming.url ?? '/', 'http://service');
  const parts: Buffer[] = await incoming.toArray();
  const text = Buffer.concat(parts).toString();
  return {
    method: incoming.method ?? '',
    path: url.pathname.slice(prefix.length).replace(/(.)\/$/, '$1'),
    rawPath: url.pathname,
    query: url.searchParams,
    body: text === '' ? {} : (JSON.parse(text) as Row),
  };
}

const longIds = /"(92233720368547\d{5})"/g;

function send(response: ServerResponse, reply: Reply, { headers, ids }: Switches): void {
  const { status, body, text = JSON.stringify(body) } = reply;
  response.writeHead(status, {
    'content-type': 'application/json',
    ...headers,
    ...reply.headers,
  });
  response.end(ids === '19 digits' ? text.replace(longIds, '$1') : text);
}

/** Starts a service with data of its own that differs from the documented one by these switches. */
export async function startService(change: Partial<Switches> = {}): Promise<Service> {
  const on = { ...documented, ...change };
  const state: State = { storedData: makeStoredData(on), on, failed: new Set() };
  let requests = 0;
  const rewrite: Rewrite = on.rewrite?.() ?? ((reply) => reply);
  const server = await listen(async (incoming, response) => {
    requests += 1;
    const request = await read(incoming);
    const reply = answer(request, incoming.headers['api-key'], state);
    send(response, rewrite(reply, request), state.on);
  });
  return {
    ...server,
    key,
    storedData: state.storedData,
    get on() {
      return state.on;
    },
    visible: (path) => visible(path, state.storedData[path] as unknown as Row[], state),
    requests: () => requests,
    set: (more) => {
      state.on = { ...state.on, ...more };
    },
  };
}
