import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Trace } from '../api/call.ts';
import type { Log } from '../log.ts';
import type { CallObserver } from '../mcp/observer.ts';
import type { Observer } from '../traffic/observer.ts';
import { traceIdOf } from '../traffic/trace.ts';
import type { Metrics, Rendered } from './metrics.ts';
import { assignRequestId, runAsRequest } from './request-context.ts';
import type { Traces } from './traces.ts';

export interface ServerObserverOptions {
  log: Log;
  version: string;
  /** Whether spans are made. */
  tracing: boolean;
  /**
   * Whether log lines contain the request id. On Node 20 and 22 this costs 10 % of a call's CPU time, because
   * every promise is tracked.
   */
  tracksRequests: boolean;
}

/** Observes a tenant's calls and its requests to the service. */
export type TenantObserver = Observer & CallObserver;

/** Loads metrics and tracing; only shared servers need them. */
export async function createServerObserver(
  options: ServerObserverOptions,
): Promise<ServerObserver> {
  const { version, tracing } = options;
  const { Metrics } = await import('./metrics.ts');
  const traces = tracing ? new (await import('./traces.ts')).Traces(version) : undefined;
  return new ServerObserver(options, new Metrics(version), traces);
}

/** Reports what a server does to metrics, the log and traces. */
export class ServerObserver {
  readonly #log: Log;
  readonly #traces: Traces | undefined;
  readonly #tracksRequests: boolean;
  readonly metrics: Metrics;

  constructor(
    { log, tracksRequests }: ServerObserverOptions,
    metrics: Metrics,
    traces: Traces | undefined,
  ) {
    this.#log = log;
    this.#tracksRequests = tracksRequests;
    this.metrics = metrics;
    this.#traces = traces;
  }

  /** `name`: the operator's name of the tenant, used as a label. */
  tenant(name: string): TenantObserver {
    return tenantObserver(name, this.#log, this.metrics, this.#traces);
  }

  /** Handles a request in a log context, and counts its status. */
  onHttpRequest<T>(request: IncomingMessage, response: ServerResponse, handle: () => T): T {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    response.once('close', () =>
      this.metrics.responseSent(path, response.headersSent ? response.statusCode : undefined),
    );
    const id = assignRequestId(request, response);
    return this.#tracksRequests ? runAsRequest(id, handle) : handle();
  }

  render(): Promise<Rendered> {
    return this.metrics.render();
  }
}

function tenantObserver(
  tenant: string,
  log: Log,
  metrics: Metrics,
  traces: Traces | undefined,
): TenantObserver {
  return {
    onCall(tool, trace) {
      metrics.callStarted();
      const span = traces?.onCall(tenant, tool, trace);
      const seconds = stopwatch();
      return {
        ...span,
        end: (outcome) => {
          const elapsed = seconds();
          metrics.callEnded(tenant, tool, outcome, elapsed);
          const ms = Math.round(elapsed * 1000);
          // Request id and caller come from the log context.
          log.info('call', { tenant, tool, outcome, ms, ...traceFacts(span?.trace ?? trace) });
          span?.end(outcome);
        },
      };
    },
    onRequest(outgoing, trace) {
      const span = traces?.onRequest(tenant, outgoing, trace);
      const seconds = stopwatch();
      return {
        ...span,
        end: (outcome, status) => {
          metrics.requestEnded(tenant, outcome, seconds());
          span?.end(outcome, status);
        },
      };
    },
    onRejected: (by) => metrics.requestRejected(tenant, by),
    registerGauges: (gauges) => metrics.registerGauges(tenant, gauges),
  };
}

const traceFacts = (trace: Trace | undefined) => trace && { trace: traceIdOf(trace) };

function stopwatch(): () => number {
  const startedAt = performance.now();
  return () => (performance.now() - startedAt) / 1000;
}
