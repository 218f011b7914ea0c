import type { Trace } from '../call.ts';

const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** A list member of `tracestate` (W3C Trace Context, 3.3.1.3). */
const memberPattern =
  /^(?:[a-z0-9][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const maxMembers = 32;
/** Length that the standard requires to be propagated; a longer state is dropped. */
const maxState = 512;

/** Parses the trace headers. Returns undefined if they are missing or invalid. */
export function traceFrom(headers: Readonly<Record<string, unknown>>): Trace | undefined {
  const traceparent = parentFrom(headers.traceparent);
  if (traceparent === undefined) return undefined;
  const tracestate = stateFrom(headers.tracestate);
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
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

function stateFrom(header: unknown): string | undefined {
  if (typeof header !== 'string' || header.length > maxState) return undefined;
  const members = header
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.split('=', 1)[0]));
  const isValid =
    members.length > 0 &&
    members.length <= maxMembers &&
    keys.size === members.length &&
    members.every((member) => memberPattern.test(member));
  return isValid ? members.join(',') : undefined;
}

/** The trace id: 32 hexadecimal digits. */
export const traceIdOf = ({ traceparent }: Trace): string => traceparent.slice(3, 35);
