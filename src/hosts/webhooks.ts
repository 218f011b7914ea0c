import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { UnrecognizedEvent } from '../events/read-event.ts';
import type { DeliveryReceipt } from '../events/receive.ts';
import { decodeSegment } from '../values.ts';
import type { GuessLimiter } from './access/guess-limiter.ts';
import { HttpError, isGuess, retryAfterHeader } from './access/http-error.ts';
import { readBody, readRequestBody, sendJson, sendRefusal } from './http-io.ts';
import { isSameSecret } from './secrets.ts';

/** A tenant that receives webhooks; it has at least one of the two secrets. */
export interface WebhookTenant {
  /** Secret sent with every delivery. */
  secret?: string | undefined;
  /** Secret that signs every delivery. */
  signingSecret?: string | undefined;
  /** @throws UnrecognizedEvent, or another error when the event could not be stored */
  receive(body: string): Promise<DeliveryReceipt>;
}

/** The outcome of a delivery, for metrics. */
export interface DeliveryResult {
  /** Tenant name in the path; undefined if unknown. */
  tenant: string | undefined;
  status: number;
  delivery?: DeliveryReceipt;
}

export interface WebhookOptions {
  tenant(name: string): WebhookTenant | undefined;
  /** Limits guessing of secrets. */
  guesses: GuessLimiter;
  /** Maximum size of one delivery. */
  maxBytes?: number;
  onError(error: unknown): void;
  onDelivery?(result: DeliveryResult): void;
}

/** Handles requests below `/webhooks/`. @returns whether the path is one of them */
export type WebhookHandler = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

const prefix = '/webhooks/';
const defaultMaxBytes = 1024 * 1024;
const retryAfterSeconds = 5;
const signatureHeaders = ['x-webhook-signature', 'x-signature', 'x-hub-signature-256'];

/** The same answer for a wrong secret and for an unknown tenant. */
const unauthorized = (): HttpError => new HttpError(401, 'Unauthorized', { countsAsFailure: true });

/**
 * `POST /webhooks/{tenant}` or `/webhooks/{tenant}/{secret}`: answered with 200 once every event is stored.
 * Duplicates are answered alike. A sender without the secret is not told which tenants exist.
 */
export function webhookHandler(options: WebhookOptions): WebhookHandler {
  return (path, request, response) => {
    if (!path.startsWith(prefix)) return false;
    answer(options, path.slice(prefix.length), request, response).catch(options.onError);
    return true;
  };
}

async function answer(
  options: WebhookOptions,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [name = '', secret, ...rest] = path.split('/').map(decodeSegment);
  const tenant = rest.length === 0 ? options.tenant(name) : undefined;
  const known = { tenant: tenant ? name : undefined };
  try {
    const { method, headers } = request;
    const read = () => readBody(request, options.maxBytes ?? defaultMaxBytes);
    const delivery = await limitGuesses(options.guesses, request, name, () =>
      receive(tenant, { method, headers, secretInPath: secret, readBody: read }),
    );
    sendJson(response, 200, describeReceipt(delivery));
    options.onDelivery?.({ ...known, status: 200, delivery });
  } catch (error) {
    if (request.destroyed && !request.complete) return; // The sender has disconnected.
    const rejection = toRejection(error, options.onError);
    sendRefusal(request, response, rejection);
    options.onDelivery?.({ ...known, status: rejection.status });
  }
}

/** `kept` if at least one event is new; of a list also how many events were handled in which way. */
function describeReceipt({ receipts, unrecognized, isList }: DeliveryReceipt) {
  const kept = receipts.filter(({ how }) => how === 'new').length;
  const status = kept > 0 ? 'kept' : 'known';
  return isList ? { status, kept, known: receipts.length - kept, unrecognized } : { status };
}

/** Maximum length of a tenant name in the path. */
const maxNameLength = 64;

/**
 * Guesses are counted per tenant name in the path, so that a wrong secret of one tenant does not block the
 * deliveries of others. Unknown names are counted alike, so that the response does not reveal which names exist.
 * @throws HttpError (429) after too many wrong secrets; what `work` throws
 */
async function limitGuesses<T>(
  guesses: GuessLimiter,
  request: IncomingMessage,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const sender = `${guesses.senderOf(request)} webhooks of ${name.slice(0, maxNameLength)}`;
  guesses.check(sender);
  try {
    return await work();
  } catch (error) {
    if (isGuess(error)) guesses.count(sender);
    throw error;
  }
}

/**
 * Answers a delivery that an embedding program passes on. The secret is in the header `x-webhook-secret` or in the last
 * segment of the path. Senders that guess are up to the program.
 */
export async function answerDelivery(
  tenant: WebhookTenant,
  request: Request,
  onError: (error: unknown) => void,
): Promise<Response> {
  const headers = Object.fromEntries(request.headers);
  const secretInPath = decodeSegment(new URL(request.url).pathname.split('/').at(-1) ?? '');
  const readBody = () => readRequestBody(request, defaultMaxBytes);
  try {
    const delivery = { method: request.method, headers, secretInPath, readBody };
    return Response.json(describeReceipt(await receive(tenant, delivery)));
  } catch (error) {
    const { status, message, headers } = toRejection(error, onError);
    return Response.json({ error: message }, { status, headers });
  }
}

/** A request of the service. */
interface Delivery {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  secretInPath: string | undefined;
  /** @throws HttpError for a body that is too large or compressed */
  readBody(): Promise<Buffer>;
}

async function receive(
  tenant: WebhookTenant | undefined,
  { method, headers, secretInPath, readBody }: Delivery,
): Promise<DeliveryReceipt> {
  if (method !== 'POST') throw new HttpError(405, 'Only POST', { headers: { allow: 'POST' } });
  const signature = signatureIn(headers);
  // Read for unknown tenants too, so that the answer does not reveal which ones exist.
  const signedBody = signature === undefined ? undefined : await readBody();
  const isSigned =
    signature !== undefined &&
    signedBody !== undefined &&
    isSignature(signature, signedBody, tenant?.signingSecret ?? '');
  const hasSecret = [textOf(headers, 'x-webhook-secret'), secretInPath].some((given) =>
    isSameSecret(given ?? '', tenant?.secret ?? ''),
  );
  if (!tenant) throw unauthorized();
  if (tenant.secret !== undefined && !hasSecret) throw unauthorized();
  if (tenant.signingSecret !== undefined && !isSigned) throw unauthorized();
  const body = signedBody ?? (await readBody());
  if (!isUtf8(body)) throw new HttpError(400, 'the body is not UTF-8');
  return tenant.receive(body.toString('utf8').replace(/^\uFEFF/, ''));
}

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The signature in the first header that has one, without the prefix `sha256=`. */
const signatureIn = (headers: IncomingHttpHeaders): string | undefined =>
  signatureHeaders
    .map((name) => textOf(headers, name))
    .find((text) => text !== undefined)
    ?.trim()
    .replace(/^sha256=/i, '');

/** Verifies the HMAC-SHA256 of the raw body, in hexadecimal or base64. */
function isSignature(signature: string, body: Buffer, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  const isHex = /^[0-9a-f]{64}$/i.test(signature);
  return isSameSecret(Buffer.from(signature, isHex ? 'hex' : 'base64').toString('hex'), expected);
}

function toRejection(error: unknown, onError: (error: unknown) => void): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof UnrecognizedEvent) return new HttpError(400, error.message);
  onError(error);
  // The service will retry the delivery.
  return new HttpError(503, 'The event cannot be stored now', {
    headers: retryAfterHeader(retryAfterSeconds),
  });
}
