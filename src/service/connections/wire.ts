import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Dispatcher, Pool } from 'undici';
import { Slots } from '../../containers.ts';
import { waitForSlice } from '../../slices.ts';
import { errorCode, fieldOf, isKeyOf, toError } from '../../values.ts';
import type { Call } from '../call.ts';
import { ApiError, type ErrorFacts, isApiError, privateAddress } from '../errors.ts';
import type { Connections } from './connections.ts';

export interface WireRequest {
  method: 'GET' | 'PUT';
  /** Below `/public-api`, with the query. */
  path: string;
  body?: string;
}

export interface WireResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Size of a response that is parsed in less than a millisecond. */
const maxSmallBody = 64 * 1024;

/**
 * Sends a request, and resolves with its response. undici's `request` returns a stream instead, which doubles the cost of a
 * small response and is not needed here.
 * @param signal aborts the request and closes its socket. A request that is not sent yet is never sent.
 */
const dispatched = (
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<WireResponse> =>
  new Promise((resolve, reject) => {
    let head: Omit<WireResponse, 'body'>;
    const chunks: Buffer[] = [];
    pool.dispatch(request, {
      onRequestStart(controller) {
        const abort = () => controller.abort(toError(signal.reason));
        if (signal.aborted) abort();
        else signal.addEventListener('abort', abort, { once: true });
      },
      onResponseStart(_, status, headers) {
        // Informational responses (1xx) precede the final one.
        if (status >= 200) head = { status, headers };
      },
      onResponseData(_, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        const [only] = chunks;
        const body = only && chunks.length === 1 ? only : Buffer.concat(chunks);
        resolve({ ...head, body });
      },
      onResponseError: (_, error) => reject(error),
    });
  });

const rejectedBy = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

export type Wire = ReturnType<typeof wireTo>;

/**
 * One tenant's requests. Sends the key with every request and never follows redirects. Its own limit of requests in
 * flight keeps it from taking all the shared connections.
 * @param baseUrl the tenant's address, without `/public-api`
 */
export function wireTo(baseUrl: URL, key: string, shared: Connections) {
  const base = new URL(`${baseUrl.pathname}/public-api`.replace(/\/+/g, '/'), baseUrl);
  const own = { 'api-key': key, accept: 'application/json', 'accept-encoding': 'gzip, br' };
  const withBody = { ...own, 'content-type': 'application/json' };
  const { attemptMs, maxBytes, concurrent } = shared.limits;
  const slots = new Slots(concurrent);
  /** They stop the requests that are not answered yet. */
  const unanswered = new Set<AbortController>();
  let acquired: Promise<Pool> | undefined;
  let closed: ApiError | undefined;
  /** The end of every path: a slash, once the service redirected to it. */
  let pathEnd: '' | '/' = '';

  async function exchange(request: WireRequest, path: string, call: Call, facts: ErrorFacts) {
    if (closed) throw closed;
    acquired ??= shared.acquire(base.origin);
    const pool = await acquired;
    // It may have been cancelled, or closed, while the pool was loaded.
    call.signal.throwIfAborted();
    if (closed) throw closed;
    const { method, body = null } = request;
    const headers = body === null ? own : withBody;
    const options = { method, path: base.pathname + path, headers, body };
    const stop = new AbortController();
    const stopped = rejectedBy(stop.signal);
    const cancel = () => stop.abort(call.signal.reason);
    const timeLeft = Math.max(1, Math.min(attemptMs, call.deadline - Date.now()));
    const timer = setTimeout(() => stop.abort(new ApiError('timed-out', facts)), timeLeft);
    call.signal.addEventListener('abort', cancel, { once: true });
    unanswered.add(stop);
    const received = slots.run(async () => {
      stop.signal.throwIfAborted();
      return Promise.race([stopped, dispatched(pool, options, stop.signal)]);
    });
    try {
      // It may be stopped before it gets a slot.
      return await Promise.race([stopped, received]);
    } catch (error) {
      throw call.signal.aborted ? call.signal.reason : toApiError(error, facts);
    } finally {
      unanswered.delete(stop);
      clearTimeout(timer);
      call.signal.removeEventListener('abort', cancel);
    }
  }

  /** @throws ApiError, of the kind `unreachable` only if nothing was sent; the signal's reason when cancelled */
  async function send(request: WireRequest, call: Call, facts: ErrorFacts): Promise<WireResponse> {
    const path = pathEnd === '' ? request.path : request.path.replace(/(?=\?|$)/, pathEnd);
    const received = await exchange(request, path, call, facts);
    if (addsSlash(received, path)) {
      pathEnd = '/';
      return send(request, call, facts);
    }
    // Several large pages may arrive at once, and each takes milliseconds to be parsed.
    if (received.body.length > maxSmallBody) await waitForSlice();
    call.signal.throwIfAborted();
    return decompressed(received, maxBytes, facts);
  }

  return {
    send,
    /** Requests that are not answered yet fail. */
    async close(): Promise<void> {
      if (closed) return;
      closed = new ApiError('connection-lost', { host: base.host, byUs: true }, 'closed');
      for (const stop of unanswered) stop.abort(closed);
      if (acquired) await shared.release(base.origin);
    },
  };
}

/** Whether the response redirects to the same path with a slash at its end. With 303 the request was carried out. */
function addsSlash({ status, headers }: WireResponse, path: string): boolean {
  if (status < 300 || status >= 400 || status === 303) return false;
  const [asked = '', given = ''] = [path, String(headers.location)].map((it) => it.split('?')[0]);
  return !asked.endsWith('/') && given.endsWith(`${asked}/`);
}

const decoders = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** @throws ApiError if the body is longer than `maxBytes` or does not match its content encoding */
async function decompressed(
  received: WireResponse,
  maxOutputLength: number,
  facts: ErrorFacts,
): Promise<WireResponse> {
  const encoding = String(received.headers['content-encoding'] ?? '').toLowerCase();
  // Some proxies declare an encoding also where there is nothing to encode.
  const isPlain = encoding === '' || encoding === 'identity' || received.body.length === 0;
  if (isPlain) return received;
  if (!isKeyOf(decoders, encoding)) {
    const problem = 'in a content encoding that was not requested';
    throw new ApiError('unexpected', { ...facts, problem });
  }
  try {
    const decode: (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer> =
      decoders[encoding];
    return { ...received, body: await decode(received.body, { maxOutputLength }) };
  } catch (error) {
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw new ApiError('too-large', facts);
    const problem = 'not in the declared content encoding, or incomplete';
    throw new ApiError('malformed', { ...facts, problem });
  }
}

const neverSentCodes = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  privateAddress,
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

const codeOf = (error: unknown): string => errorCode(error) ?? '';

/** Some of these codes also occur on established connections, after something may have been sent. */
const isConnectError = (error: unknown): boolean => {
  const syscall = fieldOf(error, 'syscall');
  return syscall === undefined || syscall === 'connect' || syscall === 'getaddrinfo';
};

/** Codes of undici for a response that is not valid HTTP; a status below 100 fails an assertion. */
const malformedCodes = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ERR_ASSERTION',
]);

/** The error of undici's parser has a name and no code. */
const isMalformed = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'HTTPParserError' || malformedCodes.has(codeOf(error)));

/** Keeps only the code: messages of the network layer may quote the request. */
export function toApiError(error: unknown, facts: ErrorFacts): Error {
  if (isApiError(error)) return error;
  if (isMalformed(error)) return new ApiError('malformed', { ...facts, problem: 'not valid HTTP' });
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const code = codeOf(error) || codeOf(inner);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new ApiError('too-large', facts);
  if (neverSentCodes.has(code) && isConnectError(inner))
    return new ApiError('unreachable', { ...facts, code });
  if (code.endsWith('_TIMEOUT')) return new ApiError('timed-out', facts);
  // An error without a code is a bug of this server and must not be reported as an outage.
  return code === '' && error instanceof Error
    ? error
    : new ApiError('connection-lost', facts, `connection lost: ${code}`);
}
