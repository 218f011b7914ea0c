// Calls of tools over HTTP.
import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import { serve } from './candidates.mjs';

export const accept = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
/** Of the older protocol revisions, in which a request needs nothing else. */
export const legacyHeaders = { ...accept, 'mcp-protocol-version': '2025-11-25' };

/** Starts a candidate, and a pool of at most this many connections to it. */
export async function open(candidate, env, connections, options) {
  const { child, url } = await serve(candidate.http, env, options);
  const { origin, pathname } = new URL(url);
  return { child, pool: new Pool(origin, { connections }), origin, path: pathname };
}

/** Calls a tool. @returns its result, and the milliseconds until the answer had arrived. @throws Error if the call failed */
export async function callTool({ pool, path }, name, args, { headers, signal } = {}) {
  const params = { name, arguments: args };
  const from = performance.now();
  const response = await pool.request({
    method: 'POST',
    path,
    headers: { ...legacyHeaders, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    signal,
  });
  const text = await response.body.text();
  const ms = performance.now() - from;
  const { result } = response.statusCode === 200 ? JSON.parse(bodyOf(text)) : {};
  if (!result || result.isError)
    throw new Error(`${name}: ${response.statusCode} ${text.slice(0, 500)}`);
  return { ms, result };
}

/** Answers of the SDK come as an event. */
const bodyOf = (text) =>
  text.startsWith('{') ? text : /^data: (\{.*"result".*)$/m.exec(text)?.[1];
