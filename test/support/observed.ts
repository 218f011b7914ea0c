import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Client } from '@modelcontextprotocol/client';
import { fieldNames } from '../../src/changes/writable-fields.ts';
import { type HttpFastPath, httpFastPath } from '../../src/fast-path/http.ts';
import { readBody, sendText } from '../../src/hosts/http-io.ts';
import {
  createServerObserver,
  currentRequest,
  type ServerObserver,
} from '../../src/hosts/observer.ts';
import { createLog } from '../../src/log.ts';
import type { CallParts } from '../../src/mcp/tool-run.ts';
import { localState } from '../../src/state/files/local.ts';
import type { Health } from '../../src/state/port.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import { parseJson } from '../../src/values.ts';
import { send } from './fast-path-parity.ts';
import { legacy } from './fast-path-requests.ts';
import { openTenant } from './hardening-tenant.ts';
import { listen } from './local-server.ts';
import { newFolder } from './shared.ts';
import { partsOf, serve } from './tenant-server.ts';
import type { Upstream } from './upstream/behaviour.ts';
import { startUpstream } from './upstream/upstream.ts';

/** A tenant with log and metrics, over a service in this process. */
export interface ObservedServer {
  upstream: Upstream;
  tenant: Tenant;
  parts: CallParts;
  watch: ServerObserver;
  /** Address of its HTTP endpoint. */
  url: string;
  /** Calls a tool over HTTP by the fast path. */
  plain(params: Record<string, unknown>, headers?: Record<string, string>): Reply;
  /** Calls a tool over HTTP by the SDK. */
  bySdk(params: Record<string, unknown>, headers?: Record<string, string>): Promise<string>;
  /** A client with a persistent connection. */
  client(): Promise<Client>;
  /** The values of one metric, by labels as printed. */
  metric(name: string): Promise<Record<string, number>>;
  close(): Promise<void>;
}

type Reply = ReturnType<typeof send>;

export interface ObservedOptions {
  logLevel?: 'info' | 'silent';
  requestLimit?: number;
  limits?: { attemptMs: number };
}

const tenantName = 'acme';

const health: Health = { kind: 'local', ok: true };
/** What `render` is given where a test asks for nothing of it. */
export const serverGauges = [0, health] as const;

export async function startObservedServer({
  logLevel = 'silent',
  ...options
}: ObservedOptions = {}): Promise<ObservedServer> {
  const upstream = await startUpstream();
  // A list of rows without a currency also asks for their companies.
  for (const row of upstream.records['/opportunity']) row.currency = 'EUR';
  const shown = createLog(logLevel, currentRequest);
  const watch = createServerObserver({ log: shown, tracksRequests: true });
  const observer = watch.tenant(tenantName);
  const folder = newFolder();
  const state = localState(folder);
  const writing = {
    perHour: 100,
    fields: new Set(fieldNames),
    allowedStages: [],
  };
  const tenant = openTenant({
    url: upstream.url,
    observer,
    state,
    writeRules: writing,
    ...options,
  });
  const parts = partsOf(tenant, { observer });
  const sdk = serve(tenant, { observer });
  const fastPath = httpFastPath(parts);
  const http = await listen((request, response) =>
    watch.onHttpRequest(request, response, () => void answer(fastPath, request, response)),
  );
  const url = `${http.url}/mcp`;
  return {
    upstream,
    tenant,
    parts,
    watch,
    url,
    plain: (params, headers = {}) => {
      const sent = legacy('tools/call', params);
      return send(url, { ...sent, headers: { ...sent.headers, ...headers } });
    },
    bySdk: async (params, headers = {}) => {
      const sent = legacy('tools/call', params);
      const init = { method: 'POST', headers: { ...sent.headers, ...headers }, body: sent.body };
      return (await sdk.fetch(new Request('http://127.0.0.1/mcp', init))).text();
    },
    client: () => sdk.connect({ era: 'legacy' }),
    metric: async (name) => valuesOf((await watch.render(...serverGauges)).body, name),
    async close() {
      await http.close();
      await tenant.close();
      await state.close();
      await upstream.close();
    },
  };
}

async function answer(fastPath: HttpFastPath, request: IncomingMessage, response: ServerResponse) {
  const message = parseJson((await readBody(request)).toString());
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const context = { headers: request.headers, client: undefined, signal: gone.signal };
  const answer = await fastPath.tryAnswer(message, context).catch(() => undefined);
  if (answer !== undefined) sendText(response, answer === '' ? 202 : 200, answer);
  else if (!response.destroyed) response.writeHead(404).end();
}

/** The values of a metric in the text format, by the labels in braces. */
export function valuesOf(text: string, name: string): Record<string, number> {
  const lines = text.matchAll(/^(?<name>[a-z_]+)(?:\{(?<labels>.*)\})? (?<value>\S+)$/gm);
  const found = [...lines].flatMap(({ groups }) =>
    groups?.name === name ? [[groups.labels ?? '', Number(groups.value)] as const] : [],
  );
  return Object.fromEntries(found);
}
