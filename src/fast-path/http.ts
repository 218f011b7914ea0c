import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../api/envelope.ts';
import { traceFrom } from '../api/trace.ts';
import type { ServerParts } from '../mcp/server.ts';
import { FastPath } from './fast-path.ts';
import { type FastRequest, legacyRevisions, modernRevision, readRequest } from './requests.ts';

/** The HTTP request that carries a message. */
export interface HttpContext {
  headers: IncomingHttpHeaders;
  /** Aborted when the sender goes away. */
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: 200 | 202;
  /** JSON; empty where there is nothing to say. */
  body: string;
}

/** The fast path of HTTP, where no request knows of another. */
export class HttpFastPath {
  readonly #fastPath: FastPath;

  constructor(parts: ServerParts) {
    this.#fastPath = new FastPath(parts, { isPersistent: false });
  }

  /**
   * The answer to a message; undefined where the SDK must answer.
   * @throws the signal's reason when the sender went away
   */
  async tryAnswer(
    message: unknown,
    { headers, signal }: HttpContext,
  ): Promise<HttpAnswer | undefined> {
    if (!isJson(headers)) return undefined;
    if (endsHandshake(message) && fitsLegacy(headers)) return { status: 202, body: '' };
    const request = readRequest(message);
    // Progress needs a stream.
    const isOurs = request?.progressToken === undefined && request && fits(request, headers);
    if (!isOurs || !this.#fastPath.canHandle(request)) return undefined;
    const context = { signal, trace: traceFrom(headers), notify: () => {} };
    return { status: 200, body: await this.#fastPath.answer(request, context) };
  }
}

const isJson = ({ accept = '', 'content-type': type = '' }: IncomingHttpHeaders): boolean =>
  /^application\/json(?:;\s*charset=utf-8)?$/i.test(type) && accept.includes('application/json');

/** The newer era repeats in headers what the body says; the older one names a revision at most. */
function fits({ era, method, params }: FastRequest, headers: IncomingHttpHeaders): boolean {
  if (era === 'legacy') return fitsLegacy(headers);
  return (
    headers['mcp-protocol-version'] === modernRevision &&
    headers['mcp-method'] === method &&
    (method !== 'tools/call' || headers['mcp-name'] === params.name)
  );
}

function fitsLegacy(headers: IncomingHttpHeaders): boolean {
  const { accept = '', 'mcp-protocol-version': revision } = headers;
  const isKnown = revision === undefined || legacyRevisions.includes(String(revision));
  return isKnown && accept.includes('text/event-stream');
}

/** A notification of the older era, which nobody answers. */
const endsHandshake = (message: unknown): boolean =>
  isObject(message) &&
  message.method === 'notifications/initialized' &&
  message.jsonrpc === '2.0' &&
  Object.keys(message).length === 2;
