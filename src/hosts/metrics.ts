import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CallOutcome } from '../mcp/observer.ts';
import type { Gauges, RequestOutcome } from '../service/traffic/observer.ts';
import type { Health } from '../state/port.ts';
import type { StreamLimit } from './streams.ts';
import type { DeliveryResult } from './webhooks.ts';

/** Values of the whole server that are read when metrics are collected. */
export interface ServerGauges {
  queuedCalls(): number;
  openStreams(): number;
  health(): Health;
}

const callBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 45];
const requestBuckets = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const lagBuckets = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 86_400];
/** Label of deliveries to an unknown tenant. */
const noTenant = 'unknown';

/**
 * Prometheus metrics. Label values are tool names, the operator's tenant names and constants, never text of
 * callers or customers, so that the number of series is bounded.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #tenants = new Set<{ tenant: string; gauges: Gauges }>();
  #inFlight = 0;
  #server: ServerGauges | undefined;

  readonly #calls = this.#counter('calls_total', 'Finished tool calls', [
    'tenant',
    'tool',
    'outcome',
  ]);
  readonly #callSeconds = this.#histogram('call_seconds', 'Duration of tool calls', callBuckets, [
    'tool',
  ]);
  readonly #requests = this.#counter(
    'upstream_requests_total',
    'Requests to the service, including those rejected by the rate budget or circuit breaker',
    ['tenant', 'outcome'],
  );
  readonly #requestSeconds = this.#histogram(
    'upstream_request_seconds',
    'Duration of requests to the service',
    requestBuckets,
    ['tenant'],
  );
  readonly #deliveries = this.#counter('webhook_deliveries_total', 'Webhook deliveries', [
    'tenant',
    'outcome',
  ]);
  readonly #lag = this.#histogram(
    'event_lag_seconds',
    "Delay between an event's own timestamp and its arrival",
    lagBuckets,
    ['tenant'],
  );
  readonly #http = this.#counter('http_requests_total', 'Answered HTTP requests', [
    'route',
    'status',
  ]);

  readonly #streamsRefused = this.#counter(
    'streams_refused_total',
    'Refused streams of updates, by limit',
    ['limit'],
  );

  constructor(version: string) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry, prefix: 'cpq_' });
    new Gauge({
      name: 'cpq_build_info',
      help: 'Always 1; the version is in the label',
      labelNames: ['version'],
      registers,
    }).set({ version }, 1);
    this.#addTenantGauges();
    this.#addServerGauges();
  }

  #addTenantGauges(): void {
    const labels = ['tenant', 'collection'] as const;
    const budget = async (set: SetValue<'tenant'>) => {
      for (const { tenant, gauges } of this.#tenants) {
        // A value that cannot be read is left out, so that the others are still reported.
        const remaining = await gauges.remainingBudget?.().catch(() => undefined);
        if (remaining !== undefined) set({ tenant }, remaining);
      }
    };
    // Several keys of one tenant share a budget; the lowest known value is the most accurate.
    this.#gauge('budget_left', 'Requests left in the rate budget', ['tenant'], budget, Math.min);
    this.#gauge('collection_age_seconds', 'Age of the cached collection', labels, (set) => {
      for (const { tenant, gauges } of this.#tenants)
        for (const [collection, asOf] of gauges.cachedCollections?.() ?? [])
          set({ tenant, collection }, Math.max(0, (Date.now() - asOf) / 1000));
    });
    const tooLarge = 'Size of a collection that alone is larger than the cache';
    this.#gauge('collection_too_large_bytes', tooLarge, labels, (set) => {
      for (const { tenant, gauges } of this.#tenants)
        for (const [collection, bytes] of gauges.largeCollections?.() ?? [])
          set({ tenant, collection }, bytes);
    });
  }

  #addServerGauges(): void {
    this.#gauge('calls_in_flight', 'Calls in flight', [], (set) => set({}, this.#inFlight));
    this.#gauge('calls_queued', 'Requests to /mcp waiting in the fair queue', [], (set) =>
      set({}, this.#server?.queuedCalls() ?? 0),
    );
    this.#gauge('streams_open', 'Open streams of updates', [], (set) =>
      set({}, this.#server?.openStreams() ?? 0),
    );
    this.#gauge('state_healthy', 'Whether state can be stored, 0 or 1', ['kind'], (set) => {
      const health = this.#server?.health();
      if (health) set({ kind: health.kind }, health.ok ? 1 : 0);
    });
  }

  callStarted(): void {
    this.#inFlight += 1;
  }

  callEnded(tenant: string, tool: string, outcome: CallOutcome, seconds: number): void {
    this.#inFlight -= 1;
    this.#calls.inc({ tenant, tool, outcome });
    this.#callSeconds.observe({ tool }, seconds);
  }

  requestEnded(tenant: string, outcome: RequestOutcome, seconds: number): void {
    this.#requests.inc({ tenant, outcome });
    this.#requestSeconds.observe({ tenant }, seconds);
  }

  requestRejected(tenant: string, by: 'budget' | 'circuit'): void {
    this.#requests.inc({ tenant, outcome: by });
  }

  deliveryHandled({ tenant = noTenant, status, delivery }: DeliveryResult): void {
    const added = delivery?.receipts.filter(({ how }) => how === 'new') ?? [];
    const stored = added.length > 0 ? 'new' : 'known';
    this.#deliveries.inc({ tenant, outcome: delivery ? stored : deliveryOutcome(status) });
    for (const { lagMs } of added) {
      if (lagMs !== undefined) this.#lag.observe({ tenant }, Math.max(0, lagMs / 1000));
    }
  }

  /** `status` undefined: the sender disconnected before it was answered. */
  responseSent(path: string, status: number | undefined): void {
    this.#http.inc({ route: routeOf(path), status: status ?? 'gone' });
  }

  /** Registers gauges that are read at every scrape. @returns a function that unregisters them */
  registerGauges(tenant: string, gauges: Gauges): () => void {
    const registered = { tenant, gauges };
    this.#tenants.add(registered);
    return () => void this.#tenants.delete(registered);
  }

  registerServerGauges(gauges: ServerGauges): void {
    this.#server = gauges;
  }

  streamRefused(limit: StreamLimit): void {
    this.#streamsRefused.inc({ limit });
  }

  async render(): Promise<{ contentType: string; body: string }> {
    const body = await this.#registry.metrics();
    return { contentType: this.#registry.contentType, body };
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: `cpq_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<L extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly L[],
  ): Histogram<L> {
    const registers = [this.#registry];
    return new Histogram({ name: `cpq_${name}`, help, buckets, labelNames, registers });
  }

  /** A gauge that is computed at every scrape; of several values with the same labels it has the one that `pick` returns. */
  #gauge<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    collect: (set: SetValue<L>) => unknown,
    pick: (one: number, other: number) => number = Math.max,
  ): void {
    const gauge: Gauge<L> = new Gauge({
      name: `cpq_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        const values = new Map<string, number>();
        gauge.reset();
        await collect((labels, value) => {
          const series = JSON.stringify(labels);
          values.set(series, pick(values.get(series) ?? value, value));
          gauge.set(labels, values.get(series) ?? value);
        });
      },
    });
  }
}

type SetValue<L extends string> = (labels: Partial<Record<L, string>>, value: number) => void;

function deliveryOutcome(status: number): string {
  if (status >= 500) return 'not_kept';
  if (status === 401) return 'unauthorized';
  return status === 400 ? 'malformed' : 'refused';
}

const knownRoutes = ['/mcp', '/healthz', '/readyz', '/metrics'];

/** Unknown paths share one label, so that callers cannot create series. */
function routeOf(path: string): string {
  if (knownRoutes.includes(path)) return path;
  if (path.startsWith('/webhooks/')) return '/webhooks';
  return path.startsWith('/.well-known/') ? '/.well-known' : 'other';
}
