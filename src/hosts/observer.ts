import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Log } from '../log.ts';
import type { CallObserver } from '../mcp/observer.ts';
import type { Gauges, Observer } from '../service/traffic/traffic-control.ts';
import type { Health } from '../state/port.ts';
import { version } from '../version.ts';
import type { Session } from './access/gate.ts';
import type { DeliveryResult } from './webhooks.ts';

/** Observes a tenant's calls and its requests to the service. */
export type TenantObserver = Observer & CallObserver;

export type ServerObserver = ReturnType<typeof createServerObserver>;

/**
 * Reports what a server does to Prometheus metrics and the log. Label values are tool names, the operator's tenant
 * names and constants, never text of callers or customers, so that the number of series is bounded.
 * @param tracksRequests on Node 20 and 22 this costs 10 % of a call's CPU time, because every promise is tracked
 */
export function createServerObserver(options: { log: Log; tracksRequests: boolean }) {
  const { log, tracksRequests } = options;
  const metrics = createMetrics();
  const tenants = new Map<Gauges, string>();
  return {
    /** `tenant`: the operator's name of the tenant, used as a label. */
    tenant: (tenant: string): TenantObserver => ({
      onCall(tool) {
        metrics.inFlight.inc();
        const startedAt = performance.now();
        return (outcome) => {
          metrics.inFlight.dec();
          const ms = performance.now() - startedAt;
          metrics.calls.inc({ tenant, tool, outcome });
          metrics.callSeconds.observe({ tool }, ms / 1000);
          // Request id and caller come from the log context.
          log.info('call', { tenant, tool, outcome, ms: Math.round(ms) });
        };
      },
      onRequest(outcome, seconds) {
        metrics.requests.inc({ tenant, outcome });
        if (seconds !== undefined) metrics.requestSeconds.observe({ tenant }, seconds);
      },
      registerGauges(gauges) {
        tenants.set(gauges, tenant);
        return () => void tenants.delete(gauges);
      },
    }),
    /** Handles a request in a log context, and counts its status. */
    onHttpRequest<T>(request: IncomingMessage, response: ServerResponse, handle: () => T): T {
      const route = routeOf(request.url ?? '/');
      response.once('close', () =>
        metrics.http.inc({ route, status: response.headersSent ? response.statusCode : 'gone' }),
      );
      const id = requestId(request);
      response.setHeader('x-request-id', id);
      return tracksRequests ? current.run({ request: id }, handle) : handle();
    },
    onDelivery({ tenant = 'unknown', status, delivery }: DeliveryResult): void {
      const stored = delivery?.receipts.includes('new') ? 'new' : 'known';
      metrics.deliveries.inc({ tenant, outcome: delivery ? stored : rejection(status) });
    },
    /** All metrics, in the text format of Prometheus. */
    async render(
      queuedCalls: number,
      { kind, ok }: Health,
    ): Promise<{ contentType: string; body: string }> {
      await setTenantGauges(tenants, metrics);
      metrics.queued.set(queuedCalls);
      metrics.healthy.set({ kind }, ok ? 1 : 0);
      const { contentType } = metrics.registry;
      return { contentType, body: await metrics.registry.metrics() };
    },
  };
}

function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `cpq_${name}`, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, label: L, buckets: number[]) =>
    new Histogram({ name: `cpq_${name}`, help, labelNames: [label], buckets, registers });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Gauge({ name: `cpq_${name}`, help, labelNames, registers });
  collectDefaultMetrics({ register: registry, prefix: 'cpq_' });
  gauge('build_info', 'Always 1; the version is in the label', 'version').set({ version }, 1);
  return {
    registry,
    calls: counter('calls_total', 'Finished tool calls', 'tenant', 'tool', 'outcome'),
    callSeconds: histogram('call_seconds', 'Duration of tool calls', 'tool', callBuckets),
    requests: counter(
      'upstream_requests_total',
      'Requests to the service, including those rejected by the rate budget or circuit breaker',
      'tenant',
      'outcome',
    ),
    requestSeconds: histogram(
      'upstream_request_seconds',
      'Duration of requests to the service',
      'tenant',
      requestBuckets,
    ),
    deliveries: counter('webhook_deliveries_total', 'Webhook deliveries', 'tenant', 'outcome'),
    budgetLeft: gauge('budget_left', 'Requests left in the rate budget', 'tenant'),
    ages: gauge('collection_age_seconds', 'Age of the cached collection', 'tenant', 'collection'),
    inFlight: gauge('calls_in_flight', 'Calls in flight'),
    queued: gauge('calls_queued', 'Requests to /mcp waiting in the fair queue'),
    healthy: gauge('state_healthy', 'Whether state can be stored, 0 or 1', 'kind'),
    http: counter('http_requests_total', 'Answered HTTP requests', 'route', 'status'),
  };
}

const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45];
const requestBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** At every scrape. Of several keys of one tenant the lowest budget and the oldest reading count. */
async function setTenantGauges(
  tenants: ReadonlyMap<Gauges, string>,
  { budgetLeft, ages }: ReturnType<typeof createMetrics>,
): Promise<void> {
  const read = [...tenants].map(async ([gauges, tenant]) => {
    // A budget that cannot be read is left out, so that the others are still reported.
    const left = await gauges.remainingBudget().catch(() => undefined);
    return left === undefined ? [] : [{ tenant, left }];
  });
  const budgets = (await Promise.all(read)).flat();
  const readings = [...tenants].flatMap(([gauges, tenant]) =>
    [...gauges.cachedCollections()].map(([collection, asOf]) => ({ tenant, collection, asOf })),
  );
  budgetLeft.reset();
  for (const { tenant, left } of budgets.sort((one, other) => other.left - one.left))
    budgetLeft.set({ tenant }, left);
  ages.reset();
  for (const { asOf, ...labels } of readings.sort((one, other) => other.asOf - one.asOf))
    ages.set(labels, Math.max(0, (Date.now() - asOf) / 1000));
}

function rejection(status: number): string {
  if (status >= 500) return 'not_kept';
  if (status === 401) return 'unauthorized';
  return status === 400 ? 'malformed' : 'refused';
}

/** Unknown paths share one label, so that callers cannot create series. */
const routeOf = (url: string): string =>
  /^\/(?:(?:mcp|healthz|readyz|metrics)(?=$|\?)|webhooks(?=\/)|\.well-known(?=\/))/.exec(
    url,
  )?.[0] ?? 'other';

type CallerFacts = Pick<Session, 'caller' | 'tenant'>;

const current = new AsyncLocalStorage<{ request: string } & CallerFacts>();

export const currentRequest = () => current.getStore();

export function addRequestFacts(facts: CallerFacts): void {
  Object.assign(current.getStore() ?? {}, facts);
}

/** The sender's own if it is one short word, and neither its key nor an access token: it is logged. */
function requestId({ headers }: IncomingMessage): string {
  const given = String(headers['x-request-id'] ?? '');
  const isValid = /^(?!cpq_)[\w.-]{1,64}$/.test(given) && given !== headers['api-key'];
  return isValid ? given : randomUUID();
}
