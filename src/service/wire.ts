import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { nextSlice, waitForSlice } from '../slices.ts';
import { errorCode, fieldOf, isKeyOf } from '../values.ts';
import type { Call, RequestSlot, Trace } from './call.ts';
import type { Connections, TenantConnections, WireLimits } from './connections/connections.ts';
import type { Received, RequestOptions } from './connections/exchange.ts';
import { ApiError, type ErrorFacts, isApiError, privateAddress } from './errors.ts';

export interface WireRequest {
  method: 'GET' | 'PUT';
  /** Below `/public-api`, with the query. */
  path: string;
  body?: string;
  /** Sent as trace headers. */
  trace?: Trace | undefined;
}

export interface WireResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Decompressed. */
  body: Buffer;
}

/** The address of the API of a tenant. */
export const apiBase = (baseUrl: URL): URL =>
  new URL(`${baseUrl.pathname}/public-api`.replace(/\/+/g, '/'), baseUrl);

/** A larger response has records; after an empty page no further request may be needed. */
const maxEmptyBody = 1024;
/** Size of a response that is parsed in less than a millisecond. */
const maxSmallBody = 64 * 1024;

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

/** One tenant's requests. Sends the key with every request and never follows redirects. */
export class Wire {
  readonly #base: URL;
  readonly #key: string;
  readonly #limits: WireLimits;
  readonly #shared: Connections;
  #connections: Promise<TenantConnections> | undefined;
  #closed: ApiError | undefined;

  constructor(base: URL, key: string, shared: Connections) {
    this.#base = base;
    this.#key = key;
    this.#limits = shared.limits;
    this.#shared = shared;
  }

  /**
   * Sends one request, once.
   * @throws ApiError, of the kind `unreachable` only if nothing was sent; the signal's reason when cancelled
   */
  async send(request: WireRequest, call: Call, facts: ErrorFacts): Promise<WireResponse> {
    const received = await this.#exchange(request, call, facts);
    const { slot } = call;
    if (slot && received.status < 300 && received.body.length > maxEmptyBody) {
      await releaseEarly(slot);
    } else if (received.body.length > maxSmallBody) {
      // Several large pages may arrive at once, and each takes milliseconds to be parsed.
      await waitForSlice();
    }
    call.signal.throwIfAborted();
    return this.#read(received, facts);
  }

  async #exchange(request: WireRequest, call: Call, facts: ErrorFacts): Promise<Received> {
    call.signal.throwIfAborted();
    if (this.#closed) throw this.#closed;
    this.#connections ??= this.#shared.open(this.#base.origin);
    const connections = await this.#connections;
    call.signal.throwIfAborted(); // It may have been cancelled while the pool was loaded.
    const exchange = connections.send(this.#options(request));
    const cancel = () => exchange.stop(call.signal.reason);
    const timeLeft = Math.max(1, Math.min(this.#limits.attemptMs, call.deadline - Date.now()));
    const timer = setTimeout(() => exchange.stop(new ApiError('timed-out', facts)), timeLeft);
    call.signal.addEventListener('abort', cancel, { once: true });
    try {
      return await exchange.received;
    } catch (error) {
      throw call.signal.aborted ? call.signal.reason : toApiError(error, facts);
    } finally {
      connections.ended(exchange);
      clearTimeout(timer);
      call.signal.removeEventListener('abort', cancel);
    }
  }

  /** Requests that are not answered yet fail. */
  async close(): Promise<void> {
    this.#closed = new ApiError('connection-lost', { host: this.#base.host }, 'closed');
    await (await this.#connections)?.close(this.#closed);
  }

  #options({ method, path, body, trace }: WireRequest): RequestOptions {
    const headers: Record<string, string> = {
      ...trace,
      'api-key': this.#key,
      accept: 'application/json',
      'accept-encoding': 'gzip, br',
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return { method, path: this.#base.pathname + path, headers, body: body ?? null };
  }

  async #read({ status, headers, body }: Received, facts: ErrorFacts): Promise<WireResponse> {
    const encoding = String(headers['content-encoding'] ?? '').toLowerCase();
    const isPlain = encoding === '' || encoding === 'identity';
    if (isPlain) return { status, headers, body };
    return {
      status,
      headers,
      body: await decompress(body, encoding, this.#limits.maxBytes, facts),
    };
  }
}

/** Lets the next request be sent on the same connection, before the response that has arrived is parsed. */
async function releaseEarly(slot: RequestSlot): Promise<void> {
  await nextTurn(); // undici can use the connection again.
  slot.release();
  await nextTurn(); // undici has written the next request.
  await nextSlice();
}

/** @throws ApiError if the body is too large or does not match its content encoding */
async function decompress(
  compressed: Buffer,
  encoding: string,
  maxBytes: number,
  facts: ErrorFacts,
): Promise<Buffer> {
  const zlib = await import('node:zlib');
  const decoders = {
    gzip: zlib.gunzip,
    'x-gzip': zlib.gunzip,
    deflate: zlib.inflate,
    br: zlib.brotliDecompress,
  };
  const decode = isKeyOf(decoders, encoding) ? decoders[encoding] : undefined;
  if (!decode)
    throw new ApiError('unexpected', {
      ...facts,
      problem: 'in a content encoding that was not requested',
    });
  const decompressed = promisify<Buffer, { maxOutputLength: number }, Buffer>(decode);
  try {
    return await decompressed(compressed, { maxOutputLength: maxBytes });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw new ApiError('too-large', facts);
    throw new ApiError('malformed', {
      ...facts,
      problem: 'not in the declared content encoding, or incomplete',
    });
  }
}

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
function toApiError(error: unknown, facts: ErrorFacts): Error {
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
