import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { type Trace, traceFrom } from '../api/trace.ts';
import type { Direct } from '../mcp/direct.ts';
import {
  isRow,
  legacyRevisions,
  modernRevision,
  type PlainRequest,
  plainRequest,
} from '../mcp/plain.ts';

/** Whether its headers are those of a plain request. */
export function mayBePlain({ headers }: IncomingMessage): boolean {
  const { accept = '', 'content-type': type = '' } = headers;
  return (
    /^application\/json(?:;\s*charset=utf-8)?$/i.test(type) && accept.includes('application/json')
  );
}

/** The message in it; undefined where it is not JSON, which whoever looks at it next says. */
export function messageIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** What the one message asks for. */
export const methodOf = (message: unknown): unknown =>
  isRow(message) ? message.method : undefined;

/** The tool that is called, if one is. */
export function toolOf(message: unknown): string | undefined {
  if (!isRow(message) || message.method !== 'tools/call' || !isRow(message.params))
    return undefined;
  return typeof message.params.name === 'string' ? message.params.name : undefined;
}

/** The same request, for whoever reads it after us. */
export function unread(request: IncomingMessage, body: Buffer): IncomingMessage {
  const { method, url, headers } = request;
  return Object.assign(Readable.from([body]), {
    method,
    url,
    headers,
  }) as unknown as IncomingMessage;
}

/**
 * Answers a plain request.
 * @returns whether it was one
 */
export async function answered(
  direct: Direct,
  { headers }: IncomingMessage,
  message: unknown,
  response: ServerResponse,
): Promise<boolean> {
  if (isOpened(message, headers)) {
    response.writeHead(202).end();
    return true;
  }
  const plain = plainRequest(message);
  const ours = plain && plain.progressToken === undefined && direct.takes(plain);
  if (!ours || !agrees(plain, headers)) return false;
  await answer(direct, plain, traceFrom(headers), response);
  return true;
}

async function answer(
  direct: Direct,
  plain: PlainRequest,
  trace: Trace | undefined,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort(new Error('the host went away'));
  response.once('close', leave);
  const answering = { signal: gone.signal, trace, notify: () => {} };
  const text = await direct.answer(plain, answering).catch((error: unknown) => {
    if (gone.signal.aborted) return undefined;
    throw error;
  });
  response.off('close', leave);
  if (text === undefined) return;
  // As bytes: a text would be put together with the headers first, and measured before that.
  const bytes = Buffer.from(text);
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
    .end(bytes);
}

/** The newer era repeats in headers what the body says; the older one names a revision at most. */
function agrees({ era, method, params }: PlainRequest, headers: IncomingHttpHeaders): boolean {
  if (era === 'legacy') return isLegacy(headers);
  return (
    headers['mcp-protocol-version'] === modernRevision &&
    headers['mcp-method'] === method &&
    (method !== 'tools/call' || headers['mcp-name'] === params.name)
  );
}

function isLegacy({ accept = '', 'mcp-protocol-version': revision }: IncomingHttpHeaders): boolean {
  const known = revision === undefined || legacyRevisions.includes(String(revision));
  return known && accept.includes('text/event-stream');
}

/** The end of the older era's handshake, which nobody answers. */
function isOpened(message: unknown, headers: IncomingHttpHeaders): boolean {
  if (!isRow(message) || message.method !== 'notifications/initialized') return false;
  const names = Object.keys(message).length;
  return names === 2 && message.jsonrpc === '2.0' && isLegacy(headers);
}
