import type { Trace } from '../call.ts';

const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Printable, and no longer than the standard requires to be propagated (W3C Trace Context, 3.3.1.5). */
const statePattern = /^[\x21-\x7e][\x20-\x7e]{0,511}$/;

/** Parses the trace headers. Returns undefined if they are missing or invalid. */
export function traceFrom(headers: Readonly<Record<string, unknown>>): Trace | undefined {
  const traceparent = parentFrom(headers.traceparent);
  if (traceparent === undefined) return undefined;
  const { tracestate } = headers;
  const isState = typeof tracestate === 'string' && statePattern.test(tracestate);
  return isState ? { traceparent, tracestate } : { traceparent };
}

/** Converts any version of `traceparent` to version 00. */
function parentFrom(header: unknown): string | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, spanId, flags = '', more] = parentPattern.exec(header) ?? [];
  if (version === undefined || version === 'ff' || isZero(traceId) || isZero(spanId)) {
    return undefined;
  }
  if (version === '00') return more === undefined ? header : undefined;
  const sampled = Number.parseInt(flags, 16) & 1;
  return `00-${traceId}-${spanId}-0${sampled}`;
}

const isZero = (digits: string | undefined): boolean => /^0*$/.test(digits ?? '');

/** The trace id: 32 hexadecimal digits. */
export const traceIdOf = ({ traceparent }: Trace): string => traceparent.slice(3, 35);
