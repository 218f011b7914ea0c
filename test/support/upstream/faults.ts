import type { Row } from '../hosts.ts';
import { type Behaviour, limit, only, type Upstream, type UpstreamRequest } from './behaviour.ts';
import { generateRecords } from './records.ts';

/** The kinds of error that a correct client distinguishes. */
export type ErrorKind =
  | 'rate limited'
  | 'unauthorised'
  | 'forbidden'
  | 'not found'
  | 'rejected'
  | 'not the API'
  | 'unavailable'
  | 'bad response'
  | 'timed out'
  | 'too large';

/**
 * What a correct client may answer when it reads a whole collection. `ok`: every record exactly once, and complete.
 * `ok-or-incomplete`: the same, or a part of the records, none twice, marked as incomplete. `error`: an error of
 * one of the kinds, never an empty collection. `ok-or-error`: one of these two.
 */
type Expected = 'ok' | 'ok-or-incomplete' | 'error' | 'ok-or-error';

export interface Preset extends Behaviour {
  readonly expect: Expected;
  /** Accepted kinds of error. */
  readonly kinds?: readonly ErrorKind[];
  /**
   * `true`: a read that fails twice with it and then no more succeeds. `false`: retrying is useless. Undefined:
   * either is correct.
   */
  readonly transient?: boolean;
}

const ok = { expect: 'ok' } as const;
const okOrIncomplete = { expect: 'ok-or-incomplete' } as const;
const error = (...kinds: ErrorKind[]) => ({ expect: 'error', kinds }) as const;
const okOrError = (...kinds: ErrorKind[]) => ({ expect: 'ok-or-error', kinds }) as const;
const transientErrors = (...kinds: ErrorKind[]) =>
  ({ ...error(...kinds), transient: true }) as const;
const permanentErrors = (...kinds: ErrorKind[]) =>
  ({ ...error(...kinds), transient: false }) as const;

const html = '<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>';
const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString();
const inASecond = () => new Date(Date.now() + 1000).toUTCString();

const refusals = {
  'key-missing': { status: { code: 401 }, ...permanentErrors('unauthorised') },
  'key-wrong': { keys: new Set<string>(), ...permanentErrors('forbidden', 'unauthorised') },
  'api-not-enabled': {
    status: { code: 403, message: 'Public API is not enabled' },
    ...permanentErrors('forbidden'),
  },
  'no-permission': {
    status: { code: 403, message: 'You do not have permission to read this resource' },
    ...permanentErrors('forbidden'),
  },
  '400-message': {
    status: { code: 400, message: 'size is too large' },
    ...permanentErrors('rejected'),
  },
  '400-messages': {
    status: { code: 400, message: ['size must not be greater than 100', 'from must be a number'] },
    ...permanentErrors('rejected'),
  },
  '404': { status: { code: 404 }, ...permanentErrors('not found', 'not the API') },
  '429': { status: { code: 429 }, ...transientErrors('rate limited') },
  '429-one-second': { status: { code: 429, retryAfter: '1' }, ...transientErrors('rate limited') },
  '429-date': { status: { code: 429, retryAfter: inASecond }, ...transientErrors('rate limited') },
  '429-no-wait': { status: { code: 429, retryAfter: '0' }, ...transientErrors('rate limited') },
  '429-an-hour': { status: { code: 429, retryAfter: '3600' }, ...error('rate limited') },
  '429-date-in-an-hour': { status: { code: 429, retryAfter: inAnHour }, ...error('rate limited') },
  '429-nonsense': { status: { code: 429, retryAfter: 'soon' }, ...transientErrors('rate limited') },
  '429-negative': { status: { code: 429, retryAfter: '-5' }, ...transientErrors('rate limited') },
  '500': { status: { code: 500 }, ...transientErrors('unavailable') },
  '502-html': { status: { code: 502, html: true }, ...transientErrors('unavailable') },
  '503-html': { status: { code: 503, html: true }, ...transientErrors('unavailable') },
  '503-one-second': { status: { code: 503, retryAfter: '1' }, ...transientErrors('unavailable') },
  '301-other-host': { redirect: { code: 301, to: 'other' }, ...permanentErrors('not the API') },
  '302-other-host': { redirect: { code: 302, to: 'other' }, ...permanentErrors('not the API') },
  '307-other-host': { redirect: { code: 307, to: 'other' }, ...permanentErrors('not the API') },
  '302-other-port': {
    redirect: { code: 302, to: 'other port' },
    ...permanentErrors('not the API'),
  },
  '301-same-host': { redirect: { code: 301, to: 'same' }, ...okOrError('not the API') },
  '307-same-host': { redirect: { code: 307, to: 'same' }, ...okOrError('not the API') },
  'redirect-loop': {
    redirect: { code: 302, to: 'loop' },
    ...error('not the API', 'bad response', 'unavailable'),
  },
} satisfies Record<string, Preset>;

const connections = {
  'delay-headers': { delayHeaders: 60, ...ok },
  'delay-body': { delayBody: 60, ...ok },
  'slow-headers': {
    trickle: { part: 'headers', bytes: 8, everyMs: 5, total: 64 },
    ...ok,
  },
  'slow-body': { trickle: { part: 'body', bytes: 5, everyMs: 5, total: 50 }, ...ok },
  'endless-headers': {
    trickle: { part: 'headers', bytes: 8, everyMs: 10 },
    ...error('timed out', 'too large', 'bad response', 'unavailable'),
  },
  'endless-body': { trickle: { part: 'body', bytes: 4, everyMs: 10 }, ...error('timed out') },
  'never-answers': { cut: { at: 'start', how: 'hang' }, ...error('timed out') },
  'stops-in-headers': { cut: { at: 'headers', how: 'hang' }, ...error('timed out') },
  'stops-in-body': { cut: { at: 'body', how: 'hang' }, ...error('timed out') },
  reset: { cut: { at: 'start', how: 'reset' }, ...transientErrors('unavailable') },
  'reset-in-headers': { cut: { at: 'headers', how: 'reset' }, ...transientErrors('unavailable') },
  'reset-in-body': {
    cut: { at: 'body', how: 'reset' },
    ...transientErrors('unavailable', 'bad response'),
  },
  close: { cut: { at: 'start', how: 'close' }, ...transientErrors('unavailable') },
  'close-in-headers': {
    cut: { at: 'headers', how: 'close' },
    ...transientErrors('unavailable', 'bad response'),
  },
  /** The content-length is that of the complete body. */
  'close-in-body': {
    cut: { at: 'body', how: 'close' },
    ...transientErrors('unavailable', 'bad response'),
  },
  'close-in-chunks': {
    cut: { at: 'body', how: 'close' },
    chunks: 64,
    ...transientErrors('unavailable', 'bad response'),
  },
} satisfies Record<string, Preset>;

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const raw = (bytes: string) => ({ raw: bytes, ...transientErrors('bad response') });

/** Invalid HTTP. */
const malformed = {
  'another-protocol': raw('SSH-2.0-OpenSSH_9.6\r\n'),
  'json-without-head': raw('{"results":[],"total":0}'),
  'bad-status-line': raw('HTTP/1.1 fine OK\r\n\r\n'),
  'status-below-100': raw(`HTTP/1.1 000 OK\r\ncontent-length: 2\r\n\r\n{}`),
  'bad-length': raw(`${head}content-length: many\r\n\r\n{}`),
  'two-lengths': raw(`${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{} `),
  'bad-header': raw(`${head}x-note: a\0b\r\ncontent-length: 2\r\n\r\n{}`),
  'headers-too-long': raw(`${head}x-note: ${'a'.repeat(100_000)}\r\ncontent-length: 2\r\n\r\n{}`),
  'bad-chunk': raw(`${head}transfer-encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n`),
  'endless-chunk': raw(`${head}transfer-encoding: chunked\r\n\r\n${'F'.repeat(18)}\r\n{}`),
} satisfies Record<string, Preset>;

const text = (body: string, type?: string) => ({
  instead: { text: body, ...(type !== undefined && { type }) },
});

const bodies = {
  truncated: { truncate: 0.6, ...transientErrors('bad response') },
  'html-200': { ...text(html, 'text/html; charset=utf-8'), ...error('not the API') },
  'html-said-to-be-json': { ...text(html), ...error('not the API', 'bad response') },
  'empty-body': { ...text(''), ...error('bad response') },
  '204': { status: { code: 204 }, ...error('bad response', 'not the API') },
  'other-object': { ...text('{"foo":[]}'), ...error('bad response') },
  'empty-object': { ...text('{}'), ...error('bad response') },
  'error-with-200': {
    ...text('{"message":"Internal server error","statusCode":500}'),
    ...error('bad response', 'unavailable'),
  },
  'json-text': { ...text('"text"'), ...error('bad response') },
  'json-null': { ...text('null'), ...error('bad response') },
  'json-number': { ...text('42'), ...error('bad response') },
  'json-twice': { ...text('[][]'), ...error('bad response') },
  'not-a-number': { ...text('{"results":[],"total":NaN}'), ...error('bad response') },
  'results-null': { envelope: 'null', ...error('bad response') },
  'results-object': { ...text('{"results":{"0":{}},"total":1}'), ...error('bad response') },
  'results-numbers': { ...text('{"results":[1,2],"total":2}'), ...error('bad response') },
  'envelope-results': { envelope: 'results', ...ok },
  'envelope-data': { envelope: 'data', ...ok },
  'envelope-items': { envelope: 'items', ...ok },
  'envelope-array': { envelope: 'array', ...ok },
  bom: { bom: true, ...okOrError('bad response') },
  'wrong-content-type': { contentType: 'text/plain', ...ok },
  'no-charset': { contentType: 'application/json', ...ok },
  'wrong-charset': { contentType: 'application/json; charset=iso-8859-1', ...ok },
  'invalid-utf8': { invalidUtf8: true, ...okOrError('bad response') },
  'duplicated-keys': { duplicateKeys: true, ...ok },
  gzip: { encoding: 'gzip', ...ok },
  deflate: { encoding: 'deflate', ...ok },
  br: { encoding: 'br', ...ok },
  'unasked-gzip': { encoding: 'unasked gzip', ...okOrError('bad response') },
  'false-gzip': { encoding: 'false gzip', ...error('bad response', 'unavailable') },
  /** A client that accepts no encoding may refuse it without unpacking. */
  'gzip-bomb': { bombMiB: 1024, ...error('too large', 'bad response') },
  large: { hugeMiB: 1, ...ok },
  huge: { hugeMiB: 40, ...error('too large') },
  'huge-in-chunks': { hugeMiB: 40, chunks: 65_536, ...error('too large') },
  'deeply-nested': { depth: 100_000, ...error('too large', 'bad response') },
  'odd-chunks': { chunks: 'characters', ...ok },
  'small-chunks': { chunks: 97, ...ok },
} satisfies Record<string, Preset>;

const paging = {
  'clamped-size': { maxSize: 10, ...ok },
  'size-of-one': { maxSize: 1, ...okOrIncomplete },
  'ignored-size': { fixedSize: 7, ...ok },
  'ignored-from': { ignoreFrom: true, ...okOrIncomplete },
  'ignored-from-clamped': { ignoreFrom: true, maxSize: 10, ...okOrIncomplete },
  everything: { everything: true, ...okOrIncomplete },
  'offset-renamed': { offset: { name: 'offset' }, maxSize: 10, ...okOrIncomplete },
  'offset-in-pages': { offset: { counts: 'pages' }, maxSize: 10, ...okOrIncomplete },
  'offset-from-one': { offset: { counts: 'records from 1' }, maxSize: 10, ...okOrIncomplete },
  'hidden-and-counted': { hidden: { oneIn: 4, counted: true }, maxSize: 10, ...okOrIncomplete },
  'hidden-not-counted': { hidden: { oneIn: 4, counted: false }, maxSize: 10, ...okOrIncomplete },
  'short-reads': { shortReads: only('half', { every: 3 }), maxSize: 10, ...okOrIncomplete },
  'random-short-reads': { shortReads: 'random', maxSize: 10, ...okOrIncomplete },
  'end-refused': { beyondEnd: 'refused', maxSize: 10, ...okOrIncomplete },
  'end-repeated': { beyondEnd: 'last page', maxSize: 10, ...okOrIncomplete },
  'end-repeated-without-total': {
    beyondEnd: 'last page',
    total: 'absent',
    maxSize: 10,
    ...okOrIncomplete,
  },
  'unstable-order': { unstableOrder: true, maxSize: 10, ...okOrIncomplete },
  'unstable-order-sort-ignored': {
    unstableOrder: true,
    sort: 'ignored',
    maxSize: 10,
    ...okOrIncomplete,
  },
  'total-text': { total: 'text', maxSize: 10, ...ok },
  'total-absent': { total: 'absent', maxSize: 10, ...okOrIncomplete },
  'total-moves': { total: { moves: 3 }, maxSize: 10, ...okOrIncomplete },
  'total-too-low': { total: { off: -5 }, maxSize: 10, ...okOrIncomplete },
  'total-too-high': { total: { off: 5 }, maxSize: 10, ...okOrIncomplete },
  'total-zero': { total: { is: 0 }, maxSize: 10, ...okOrIncomplete },
  'total-null': { total: { is: null }, maxSize: 10, ...okOrIncomplete },
} satisfies Record<string, Preset>;

/** Changes the collection between the first pages of a walk, then leaves it alone. */
const moving = (change: (rows: Row[], fresh: () => Row) => void): Behaviour => ({
  maxSize: 10,
  onRequest: (n: number, upstream: Upstream, { route }: UpstreamRequest) => {
    if (route === undefined || n < 2 || n > 4) return;
    const fresh = () => generateRecords(route, 1, n + 1_000_000)[0] ?? {};
    change(upstream.records[route], fresh);
  },
});

const toTheFront = (rows: Row[]): void => {
  const last = rows.pop();
  if (last) rows.unshift({ ...last, updatedAt: '2027-01-01T00:00:00.000Z' });
};

const shifting = {
  'inserted-at-front': { ...moving((rows, fresh) => rows.unshift(fresh())), ...okOrIncomplete },
  'deleted-at-front': { ...moving((rows) => rows.shift()), ...okOrIncomplete },
  'updated-to-front': { ...moving(toTheFront), ...okOrIncomplete },
  /** Not visible in any count: the total stays, and as many records are read as exist. */
  'deleted-and-inserted': {
    ...moving((rows, fresh) => {
      rows.shift();
      rows.push(fresh());
    }),
    ...okOrIncomplete,
  },
} satisfies Record<string, Preset>;

const rates = {
  'rate-headers-absent': { rateHeaders: 'absent', ...ok },
  'rate-headers': { rate: { limit: 500, windowMs: 600_000 }, ...ok },
  'rate-headers-upper-case': {
    rate: { limit: 500, windowMs: 600_000 },
    headerCase: 'upper',
    ...ok,
  },
  'rate-headers-title-case': {
    rate: { limit: 500, windowMs: 600_000 },
    headerCase: 'title',
    ...ok,
  },
  'rate-headers-too-high': { rateHeaders: { limit: 1e6, remaining: 1e6 }, ...ok },
  'rate-headers-none-left': { rateHeaders: { remaining: 0 }, maxSize: 10, ...okOrIncomplete },
  'rate-headers-nonsense': { rateHeaders: { limit: 'many', remaining: 'some', reset: '' }, ...ok },
  'rate-spent-midway': {
    rate: { limit: 3, windowMs: 600_000 },
    maxSize: 10,
    ...okOrIncomplete,
  },
  'rate-spent-unsaid': {
    rate: { limit: 3, windowMs: 600_000 },
    rateHeaders: 'absent',
    maxSize: 10,
    ...okOrIncomplete,
  },
} satisfies Record<string, Preset>;

/** From the third request on. */
const later = (behaviour: Behaviour): Preset => ({
  maxSize: 10,
  ...limit(behaviour, { after: 2 }),
  ...okOrIncomplete,
});

/** At every third page, on the first request: retries always succeed. */
const atTimes = (behaviour: Behaviour): Preset => ({
  maxSize: 10,
  ...limit(limit(behaviour, { every: 3 }), { first: 1, per: 'url' }),
  ...ok,
});

const recurring = {
  'later-500': later(refusals['500']),
  'later-429': later(refusals['429-an-hour']),
  'later-forbidden': later(refusals['no-permission']),
  'later-reset': later(connections.reset),
  'later-truncated': later(bodies.truncated),
  'later-html': later(bodies['html-200']),
  'later-other-object': later(bodies['other-object']),
  'later-redirect': later(refusals['302-other-host']),
  'at-times-500': atTimes(refusals['500']),
  'at-times-429': atTimes(refusals['429-no-wait']),
  'at-times-reset': atTimes(connections.reset),
  'at-times-reset-in-body': atTimes(connections['reset-in-body']),
  'at-times-truncated': atTimes(bodies.truncated),
} satisfies Record<string, Preset>;

const presets = {
  none: ok,
  ...refusals,
  ...connections,
  ...malformed,
  ...bodies,
  ...paging,
  ...shifting,
  ...rates,
  ...recurring,
};

export type FaultName = keyof typeof presets;

/** Faults of reads by name, each applicable to every list route. */
export const faults: Readonly<Record<FaultName, Preset>> = presets;

export const faultNames = Object.keys(presets) as FaultName[];
