import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../log.ts';
import type { CallObserver } from '../mcp/observer.ts';
import type { Trace } from '../service/call.ts';
import type { Observer } from '../service/traffic/observer.ts';
import { traceIdOf } from '../service/traffic/trace.ts';
import type { Metrics } from './metrics.ts';
import { assignRequestId, runAsRequest } from './request-context.ts';
import type { Traces } from './traces.ts';

export interface ServerObserverOptions {
  log: Log;
  version: string;
  tracing: boolean;
  /**
   * Whether log lines contain the request id. On Node 20 and 22 this costs 10 % of a call's CPU time, because
   * every promise is tracked.
   */
  tracksRequests: boolean;
}

/** Observes a tenant's calls and its requests to the service. */
export type TenantObserver = Observer & CallObserver;

/** Reports what a server does to metrics, the log and traces. */
export interface ServerObserver {
  readonly metrics: Metrics;
  /** `name`: the operator's name of the tenant, used as a label. */
  tenant(name: string): TenantObserver;
  /** Handles a request in a log context, and counts its status. */
  onHttpRequest<T>(request: IncomingMessage, response: ServerResponse, handle: () => T): T;
}

/** Loads metrics and tracing; only shared servers need them. */
export async function createServerObserver({
  log,
  version,
  tracing,
  tracksRequests,
}: ServerObserverOptions): Promise<ServerObserver> {
  const { Metrics } = await import('./metrics.ts');
  const traces = tracing ? new (await import('./traces.ts')).Traces(version) : undefined;
  const metrics = new Metrics(version);
  return {
    metrics,
    tenant: (name) => tenantObserver(name, log, metrics, traces),
    onHttpRequest(request, response, handle) {
      const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
      response.once('close', () =>
        metrics.responseSent(path, response.headersSent ? response.statusCode : undefined),
      );
      const id = assignRequestId(request, response);
      return tracksRequests ? runAsRequest(id, handle) : handle();
    },
  };
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
