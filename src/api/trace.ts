/** Where in a distributed trace something happens, as the W3C's headers of these names say it. */
export interface Trace {
  traceparent: string;
  tracestate?: string;
}

const parentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Of a key and a value in `tracestate`, as W3C Trace Context (3.3.1.3) has them. */
const memberPattern =
  /^(?:[a-z0-9][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;
const maxMembers = 32;
/** What the standard asks everyone to hand on; more would only be weight on every request. */
const maxState = 512;

/** What was said of a trace; undefined where it is not said as it should be, and so is not handed on. */
export function traceFrom(headers: Readonly<Record<string, unknown>>): Trace | undefined {
  const traceparent = parentFrom(headers.traceparent);
  if (traceparent === undefined) return undefined;
  const tracestate = stateFrom(headers.tracestate);
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

/** In the words of the version that is known here, whichever it came in. */
function parentFrom(headers: unknown): string | undefined {
  if (typeof headers !== 'string') return undefined;
  const [, version, traceId, spanId, flags = '', more] = parentPattern.exec(headers) ?? [];
  if (version === undefined || version === 'ff' || isZero(traceId) || isZero(spanId)) {
    return undefined;
  }
  if (version === '00') return more === undefined ? headers : undefined;
  const sampled = Number.parseInt(flags, 16) & 1;
  return `00-${traceId}-${spanId}-0${sampled}`;
}

const isZero = (digits: string | undefined): boolean => /^0*$/.test(digits ?? '');

function stateFrom(headers: unknown): string | undefined {
  if (typeof headers !== 'string' || headers.length > maxState) return undefined;
  const members = headers
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.split('=', 1)[0]));
  const isFit =
    members.length > 0 &&
    members.length <= maxMembers &&
    keys.size === members.length &&
    members.every((member) => memberPattern.test(member));
  return isFit ? members.join(',') : undefined;
}

/** The id that all of one trace have in common: 32 hexadecimal digits. */
export const traceIdOf = ({ traceparent }: Trace): string => traceparent.slice(3, 35);
