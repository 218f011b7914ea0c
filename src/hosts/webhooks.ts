import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { UnrecognizedEvent } from '../tenant/events/read-event.ts';
import type { Receipt } from '../tenant/events/receive.ts';
import type { GuessLimiter } from './access/guess-limiter.ts';
import { HttpError, isGuess, retryAfterHeader } from './access/http-error.ts';
import { readBody, sendJson, sendRefusal } from './http-io.ts';
import { isSameSecret } from './secrets.ts';

/** One tenant's end of its webhooks. At least one of the two secrets is there. */
export interface WebhookTenant {
  /** What every delivery carries. */
  secret?: string | undefined;
  /** What every delivery is signed with. */
  signingSecret?: string | undefined;
  /** @throws UnrecognizedEvent, or any other error when the event could not be kept */
  receive(body: string): Promise<Receipt>;
}

/** What came of a delivery, for whoever counts. */
export interface DeliveryResult {
  /** Name in the address; undefined where there is no such tenant. */
  tenant: string | undefined;
  status: number;
  receipt?: Receipt;
}

export interface WebhookOptions {
  tenant(name: string): WebhookTenant | undefined;
  /** Slows down whoever guesses secrets. */
  guesses: GuessLimiter;
  /** Of one delivery. */
  maxBytes?: number;
  onError(error: unknown): void;
  onDelivery?(delivered: DeliveryResult): void;
}

/** Answers what is sent below `/webhooks/`. @returns whether it is that */
export type WebhookHandler = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

const prefix = '/webhooks/';
const defaultMaxBytes = 1024 * 1024;
const retryAfterSeconds = 5;
const signatureHeaders = ['x-webhook-signature', 'x-signature', 'x-hub-signature-256'];

/** A wrong secret, or a tenant that there is none of. */
const unauthorized = (): HttpError => new HttpError(401, 'Unauthorized', { countsAsFailure: true });

/**
 * `POST /webhooks/{tenant}` or `/webhooks/{tenant}/{secret}`: answered with 200 once the event is safe. An
 * event that came before is answered alike. Whoever does not know the secret learns nothing, not even
 * which tenants there are.
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
    const maxBytes = options.maxBytes ?? defaultMaxBytes;
    const receipt = await slowingGuesses(options.guesses, request, name, () =>
      receive(tenant, secret, request, maxBytes),
    );
    sendJson(response, 200, { status: receipt.how === 'new' ? 'kept' : 'known' });
    options.onDelivery?.({ ...known, status: 200, receipt });
  } catch (error) {
    if (request.destroyed && !request.complete) return; // The sender has gone away.
    const denied = toRejection(error, options.onError);
    sendRefusal(request, response, denied);
    options.onDelivery?.({ ...known, status: denied.status });
  }
}

/** Of a name in the address. */
const maxNameLength = 64;

/**
 * Guesses are counted for each name in the address: one tenant whose secret is wrong at the service must not
 * keep the deliveries of others out. Names of no tenant are counted alike, so that nobody can tell them apart.
 * @throws Denied (429) after too many wrong secrets; whatever `work` throws
 */
async function slowingGuesses<T>(
  guesses: GuessLimiter,
  request: IncomingMessage,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const guesser = `${guesses.senderOf(request)} webhooks of ${name.slice(0, maxNameLength)}`;
  guesses.check(guesser);
  try {
    return await work();
  } catch (error) {
    if (isGuess(error)) guesses.count(guesser);
    throw error;
  }
}

function decodeSegment(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

async function receive(
  tenant: WebhookTenant | undefined,
  secretInPath: string | undefined,
  request: IncomingMessage,
  maxBytes: number,
): Promise<Receipt> {
  if (request.method !== 'POST')
    throw new HttpError(405, 'Only POST', { headers: { allow: 'POST' } });
  const { headers } = request;
  const signatureHeader = secretInPath ?? textOf(headers, 'x-webhook-secret');
  const isKnown = isSameSecret(signatureHeader ?? '', tenant?.secret ?? '');
  if (!tenant || (tenant.secret !== undefined && !isKnown)) throw unauthorized();
  const body = await readBody(request, maxBytes);
  if (
    tenant.signingSecret !== undefined &&
    !hasValidSignature(headers, body, tenant.signingSecret)
  ) {
    throw unauthorized();
  }
  if (!isUtf8(body)) throw new HttpError(400, 'the body is not UTF-8');
  return tenant.receive(body.toString('utf8').replace(/^\uFEFF/, ''));
}

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** HMAC-SHA256 of the body as it was sent, in hexadecimal digits or base64, with or without `sha256=`. */
function hasValidSignature(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const signature = createHmac('sha256', secret).update(body).digest();
  const signatureHeader = signatureHeaders
    .map((name) =>
      textOf(headers, name)
        ?.trim()
        .replace(/^sha256=/i, ''),
    )
    .find((text) => text !== undefined);
  if (signatureHeader === undefined) return false;
  const isHex = /^[0-9a-f]{64}$/i.test(signatureHeader);
  return isSameSecret(
    Buffer.from(signatureHeader, isHex ? 'hex' : 'base64').toString('hex'),
    signature.toString('hex'),
  );
}

function toRejection(error: unknown, onError: (error: unknown) => void): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof UnrecognizedEvent) return new HttpError(400, error.message);
  onError(error);
  // The service sends it again.
  return new HttpError(503, 'It could not be kept now', {
    headers: retryAfterHeader(retryAfterSeconds),
  });
}
