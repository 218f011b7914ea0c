import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Reply } from './context.ts';
import { Refusal } from './errors.ts';
import type { Json } from './json.ts';
import { findRoute } from './routes.ts';
import type { KeyHolder, SandboxService } from './sandbox-service.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const PUBLIC_API = /^\/t\/([^/]+)\/public-api(?:\/(.*))?$/;
const WEB_INTERFACE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head>
<body><div id="app">Loading…</div></body></html>
`;

/** Answers any request: the API, and the page of the web interface. */
export async function handle(
  service: SandboxService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [pathname = '', search] = (request.url ?? '/').split(/\?(.*)/s);
  const [, tenant, path = ''] = PUBLIC_API.exec(pathname) ?? [];
  try {
    if (tenant !== undefined) {
      const query = new URLSearchParams(search);
      send(response, await answerApi(service, request, response, { tenant, path, query }));
    } else {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(WEB_INTERFACE);
    }
  } catch (error) {
    send(response, refusalOf(error));
  }
}

async function answerApi(
  service: SandboxService,
  request: IncomingMessage,
  response: ServerResponse,
  { tenant, path, query }: { tenant: string; path: string; query: URLSearchParams },
): Promise<Reply> {
  const holder = authenticate(service, tenant, request.headers['api-key']);
  limit(service, tenant, response);
  const method = request.method ?? 'GET';
  const found = findRoute(method, path);
  if (!found) throw new Refusal(404, `Cannot ${method} /public-api/${path}`);
  if (!holder.permissions.includes(found.permission)) {
    throw new Refusal(403, `API key lacks the permission ${found.permission}`);
  }
  const body = await readBody(request);
  return found.answer(service.contextFor(tenant), { query, key: found.key, body });
}

function authenticate(
  service: SandboxService,
  tenant: string,
  key: string | string[] | undefined,
): KeyHolder {
  if (!service.hasTenant(tenant)) throw new Refusal(404, 'No such tenant');
  if (!key) throw new Refusal(401, 'No API key provided');
  const holder = service.keyHolder(String(key));
  if (holder?.tenant !== tenant) throw new Refusal(403, 'API key not valid');
  if (!service.settings.publicApi) throw new Refusal(403, 'Public API is not enabled');
  return holder;
}

function limit(
  { settings, limits }: SandboxService,
  tenant: string,
  response: ServerResponse,
): void {
  if (!settings.rateLimit) return;
  const allowance = limits.take(tenant, settings.rateLimit, Date.now());
  response.setHeader('X-RateLimit-Limit', allowance.limit);
  response.setHeader('X-RateLimit-Remaining', allowance.remaining);
  response.setHeader('X-RateLimit-Reset', allowance.reset);
  if (allowance.allowed) return;
  response.setHeader('Retry-After', allowance.reset);
  throw new Refusal(429, 'Too many requests');
}

/** The parsed JSON body; undefined if the body is empty. */
async function readBody(request: IncomingMessage): Promise<Json | undefined> {
  if (request.method === 'GET' || request.method === 'HEAD') return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  const received: AsyncIterable<Buffer> = request;
  for await (const chunk of received) {
    length += chunk.length;
    // Reads and drops the rest: closing early would reset the connection before the answer arrives.
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (length > MAX_BODY_BYTES) throw new Refusal(413, 'request entity too large');
  return length === 0 ? undefined : parse(Buffer.concat(chunks).toString('utf8'));
}

function parse(text: string): Json {
  try {
    return JSON.parse(text, requireUnicode);
  } catch (error) {
    throw new Refusal(400, error instanceof Error ? error.message : 'Malformed JSON');
  }
}

/** SQLite stores UTF-8, which has no form for half a character. */
function requireUnicode(name: string, value: Json): Json {
  const isText = typeof value === 'string';
  if (name.isWellFormed() && (!isText || value.isWellFormed())) return value;
  throw new Error('a string is not valid Unicode');
}

function refusalOf(error: unknown): Reply {
  if (error instanceof Refusal) return { status: error.status, body: error.body };
  if (error instanceof URIError) return refusalOf(new Refusal(400, 'Malformed path'));
  const message = error instanceof Error ? error.message : 'Internal server error';
  return refusalOf(new Refusal(500, message));
}

function send(response: ServerResponse, { status, body }: Reply): void {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  };
  response.writeHead(status, headers).end(body);
}
