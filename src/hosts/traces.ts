import {
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { CallOutcome } from '../mcp/observer.ts';
import type { Trace } from '../service/call.ts';
import type { Observation, OutgoingRequest, RequestOutcome } from '../service/traffic/observer.ts';

/** The global under which all 1.x versions of the API register providers. */
const registry = Symbol.for('opentelemetry.js.api.1');

/**
 * The API ignores providers registered by an earlier 1.x version; the methods used here are the same in all
 * of them.
 */
function provider(): TracerProvider {
  const registered = (globalThis as { [registry]?: { trace?: TracerProvider } })[registry];
  return registered?.trace ?? trace.getTracerProvider();
}

/**
 * Creates spans with the OpenTelemetry SDK registered in this process; without one, incoming trace context is
 * propagated unchanged. Spans contain tool and route names, never arguments.
 */
export class Traces {
  readonly #version: string;

  constructor(version: string) {
    this.#version = version;
  }

  onCall(tenant: string, tool: string, from: Trace | undefined): Observation<CallOutcome> {
    const attributes = {
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': tool,
      'cpq.tenant': tenant,
    };
    const span = this.#start(`tools/call ${tool}`, SpanKind.SERVER, attributes, from);
    return toObservation(span, ['ok', 'asked', 'refused', 'cancelled']);
  }

  onRequest(
    tenant: string,
    outgoing: OutgoingRequest,
    from: Trace | undefined,
  ): Observation<RequestOutcome> {
    const { method, host, path } = outgoing;
    const { hostname, port } = new URL(`http://${host}`);
    const attributes = {
      'http.request.method': method,
      'url.template': path,
      'server.address': hostname,
      ...(port === '' ? {} : { 'server.port': Number(port) }),
      'cpq.tenant': tenant,
    };
    const span = this.#start(`${method} ${path}`, SpanKind.CLIENT, attributes, from);
    return toObservation(span, ['2xx', 'cancelled']);
  }

  #start(
    name: string,
    kind: SpanKind,
    attributes: Record<string, string | number>,
    from: Trace | undefined,
  ): Span {
    const tracer = provider().getTracer('cpq-mcp', this.#version);
    const parent = from ? trace.setSpanContext(ROOT_CONTEXT, contextOf(from)) : ROOT_CONTEXT;
    return tracer.startSpan(name, { kind, attributes }, parent);
  }
}

function contextOf({ traceparent, tracestate }: Trace) {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-');
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return tracestate === undefined
    ? context
    : { ...context, traceState: createTraceState(tracestate) };
}

/** @param harmless outcomes that are no errors */
function toObservation<Outcome extends string>(
  span: Span,
  harmless: readonly Outcome[],
): Observation<Outcome> {
  const at = traceOf(span);
  return {
    ...(at ? { trace: at } : {}),
    end(outcome, status) {
      span.setAttribute('cpq.outcome', outcome);
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      if (!harmless.includes(outcome)) {
        span.setAttribute('error.type', outcome);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** Undefined without an SDK and without incoming trace context. */
function traceOf(span: Span): Trace | undefined {
  const context = span.spanContext();
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  const tracestate = traceState?.serialize();
  return tracestate ? { traceparent, tracestate } : { traceparent };
}
