import { once } from 'node:events';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { resolveAddress } from '../../src/commands/start.ts';
import { openTenant } from '../../src/commands/tenant-handle.ts';
import { readSettings } from '../../src/config.ts';
import { openGate } from '../../src/hosts/access/gate.ts';
import type { LineEndpoint, TenantEndpoint } from '../../src/hosts/endpoint.ts';
import { serveHttp } from '../../src/hosts/http.ts';
import { sdkHandler } from '../../src/hosts/http-sdk.ts';
import { createLog } from '../../src/log.ts';
import { httpOptions } from './http-options.ts';
import { listen } from './local-server.ts';
import type { Address } from './sandbox.ts';
import { closing } from './shared.ts';

/** A server of the tenant that counts how often the SDK creates a server. */
export interface CountedServer {
  endpoint: TenantEndpoint & LineEndpoint;
  createdServers(): number;
}

export async function countedServer(
  { baseUrl, key }: Address,
  stateDir: string,
): Promise<CountedServer> {
  const grants = 'read,opportunity:write';
  const settings = readSettings([], {
    CPQ_BASE_URL: baseUrl,
    CPQ_API_KEY: key,
    CPQ_GRANTS: grants,
    CPQ_STATE_DIR: stateDir,
    CPQ_RATE_LIMIT: '1000000',
  });
  const address = await resolveAddress(settings);
  const opened = closing(await openTenant(settings, address, createLog(settings.logLevel)));
  let made = 0;
  const server: TenantEndpoint['server'] = () => {
    made += 1;
    return opened.server();
  };
  const { parts } = opened;
  const endpoint = { ...opened, server, description: parts, callParts: async () => parts };
  return { endpoint, createdServers: () => made };
}

const onError = () => {};

/** Serves the built server, with or without the fast path. @returns its address */
export async function serveWithFastPath(
  { endpoint: served }: CountedServer,
  fastPath = true,
): Promise<string> {
  return closing(
    await serveHttp(
      openGate(() => served),
      httpOptions({ fastPath, onError }),
    ),
  ).url;
}

/** Serves every request by the SDK. @returns its address */
export async function serveWithSdk({ endpoint: served }: CountedServer): Promise<string> {
  const handler = sdkHandler(served, onError);
  const { url } = closing(
    await listen((incoming, response) => void handler(incoming, response, undefined, undefined)),
  );
  return `${url}/mcp`;
}

export interface Sent {
  method?: string;
  headers: Record<string, string>;
  body: string;
}

export interface Reply {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends one request without a client library. */
export async function send(
  url: string | URL,
  { method = 'POST', headers, body }: Omit<Sent, 'headers'> & { headers: OutgoingHttpHeaders },
  { path, onPart }: { path?: string; onPart?: (part: Buffer) => void } = {},
): Promise<Reply> {
  const length = method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) };
  const all = { ...length, ...headers };
  const sent = request(url, { agent: false, method, headers: all, ...(path && { path }) });
  sent.on('error', () => {}); // The server may close before it has read all.
  sent.end(body);
  const [response] = await once(sent, 'response');
  const parts: Buffer[] = [];
  for await (const part of response) {
    parts.push(part);
    onPart?.(part);
  }
  const { statusCode: status, headers: received } = response;
  return { status, headers: received, body: Buffer.concat(parts).toString() };
}

/** The message in a JSON or event-stream body, without its time. */
export function messageIn({ headers, body }: Reply): string {
  const isStream = String(headers['content-type']).startsWith('text/event-stream');
  return withoutTimes(isStream ? body.replace(/^event: message\ndata: |\n\n$/g, '') : body);
}

export const withoutTimes = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '(now)');
