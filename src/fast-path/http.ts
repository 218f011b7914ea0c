import type { IncomingHttpHeaders } from 'node:http';
import { legacyRevisions, modernRevision } from '../mcp/identity.ts';
import type { CallParts } from '../mcp/tool-run.ts';
import { isObject } from '../values.ts';
import { type CallContext, FastPath, type FastRequest, readRequest } from './fast-path.ts';

type HttpContext = Pick<CallContext, 'signal' | 'client'> & { headers: IncomingHttpHeaders };

export type HttpFastPath = ReturnType<typeof httpFastPath>;

export function httpFastPath(parts: CallParts) {
  const fastPath = new FastPath({ description: parts, callParts: () => parts });
  return {
    /** Empty for a notification; undefined if the SDK must answer it. @throws as `FastPath.answer` */
    async tryAnswer(
      message: unknown,
      { headers, client, signal }: HttpContext,
    ): Promise<string | undefined> {
      if (!isJson(headers)) return undefined;
      if (endsHandshake(message) && fitsLegacy(headers)) return '';
      const request = readRequest(message);
      // Progress notifications need a stream.
      if (!request || request.progressToken !== undefined || !fits(request, headers))
        return undefined;
      if (!fastPath.canHandle(request)) return undefined;
      return fastPath.answer(request, { signal, client, notify: () => {} });
    },
  };
}

const isJson = ({ accept = '', 'content-type': type = '' }: IncomingHttpHeaders): boolean =>
  /^application\/json(?:;\s*charset=utf-8)?$/i.test(type) && accept.includes('application/json');

/** Modern requests repeat method and name in headers; legacy ones contain at most the revision. */
const fits = ({ era, method, params }: FastRequest, headers: IncomingHttpHeaders): boolean =>
  era === 'legacy'
    ? fitsLegacy(headers)
    : headers['mcp-protocol-version'] === modernRevision &&
      headers['mcp-method'] === method &&
      (method !== 'tools/call' || headers['mcp-name'] === params.name);

function fitsLegacy(headers: IncomingHttpHeaders): boolean {
  const { accept = '', 'mcp-protocol-version': revision } = headers;
  const isKnown = revision === undefined || legacyRevisions.includes(String(revision));
  return isKnown && accept.includes('text/event-stream');
}

/** The legacy notification `notifications/initialized`, which has no answer. */
const endsHandshake = (message: unknown): boolean =>
  isObject(message) &&
  message.method === 'notifications/initialized' &&
  message.jsonrpc === '2.0' &&
  Object.keys(message).length === 2;
