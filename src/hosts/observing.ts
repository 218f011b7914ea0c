import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gauges, Observer, RequestOutcome, Sending, Watched } from '../api/observer.ts';
import { type Trace, traceIdOf } from '../api/trace.ts';
import type { Log } from '../log.ts';
import type { CallObserver, CallOutcome } from '../mcp/observer.ts';
import type { Metrics, Rendered } from './metrics.ts';
import { asRequest, identify } from './requests.ts';
import type { Traces } from './traces.ts';

export interface ObservingOptions {
  log: Log;
  version: string;
  /** Whether spans are made. */
  tracing: boolean;
  /**
   * Whether every line of the log says which request it belongs to. On Node 20 and 22 that costs a tenth
   * of a call's processor time, because every promise is followed.
   */
  followsRequests: boolean;
}

/** Both ends of a tenant: its calls, and what is asked of the service for them. */
export type TenantObserver = Observer & CallObserver;

/** Loads what is needed to watch a server at work: only one that many share is watched. */
export async function observing(options: ObservingOptions): Promise<Observing> {
  const { version, tracing } = options;
  const { Metrics } = await import('./metrics.ts');
  const traces = tracing ? new (await import('./traces.ts')).Traces(version) : undefined;
  return new Observing(options, new Metrics(version), traces);
}

/** Watches a server at work: what is counted, what is logged of every call, and its place in a trace. */
export class Observing {
  readonly #log: Log;
  readonly #traces: Traces | undefined;
  readonly #follows: boolean;
  readonly metrics: Metrics;

  constructor(
    { log, followsRequests }: ObservingOptions,
    metrics: Metrics,
    traces: Traces | undefined,
  ) {
    this.#log = log;
    this.#follows = followsRequests;
    this.metrics = metrics;
    this.#traces = traces;
  }

  /** `name` is the operator's own for the tenant, because it becomes a label. */
  tenant(name: string): TenantObserver {
    return new OneTenant(name, this.#log, this.metrics, this.#traces);
  }

  /** Handles a request under an id, and counts what it is answered. */
  request<T>(request: IncomingMessage, response: ServerResponse, handle: () => T): T {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    response.once('close', () =>
      this.metrics.answered(path, response.headersSent ? response.statusCode : undefined),
    );
    const id = identify(request, response);
    return this.#follows ? asRequest(id, handle) : handle();
  }

  render(): Promise<Rendered> {
    return this.metrics.render();
  }
}

class OneTenant implements TenantObserver {
  readonly #name: string;
  readonly #log: Log;
  readonly #metrics: Metrics;
  readonly #traces: Traces | undefined;

  constructor(name: string, log: Log, metrics: Metrics, traces: Traces | undefined) {
    this.#name = name;
    this.#log = log;
    this.#metrics = metrics;
    this.#traces = traces;
  }

  calls(tool: string, trace: Trace | undefined): Watched<CallOutcome> {
    this.#metrics.began();
    const span = this.#traces?.calls(this.#name, tool, trace);
    const seconds = stopwatch();
    return {
      ...span,
      ended: (outcome) => {
        const took = seconds();
        this.#metrics.called(this.#name, tool, outcome, took);
        this.#tell(tool, outcome, took, span?.trace ?? trace);
        span?.ended(outcome);
      },
    };
  }

  sends(sending: Sending, trace: Trace | undefined): Watched<RequestOutcome> {
    const span = this.#traces?.sends(this.#name, sending, trace);
    const seconds = stopwatch();
    return {
      ...span,
      ended: (outcome, status) => {
        this.#metrics.requested(this.#name, outcome, seconds());
        span?.ended(outcome, status);
      },
    };
  }

  heldBack(by: 'budget' | 'circuit'): void {
    this.#metrics.heldBack(this.#name, by);
  }

  offers(gauges: Gauges): () => void {
    return this.#metrics.offer(this.#name, gauges);
  }

  /** The line of a call; the request's id, and who called, are in every line of a request. */
  #tell(tool: string, outcome: CallOutcome, seconds: number, trace: Trace | undefined): void {
    this.#log.info('call', {
      tenant: this.#name,
      tool,
      outcome,
      ms: Math.round(seconds * 1000),
      ...(trace ? { trace: traceIdOf(trace) } : {}),
    });
  }
}

function stopwatch(): () => number {
  const startedAt = performance.now();
  return () => (performance.now() - startedAt) / 1000;
}
