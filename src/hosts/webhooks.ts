import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { NotAnEvent } from '../tenant/events/read-event.ts';
import type { Receipt } from '../tenant/events/receive.ts';
import { isSameSecret } from './secrets.ts';

/** One tenant's end of its webhooks. At least one of the two secrets is there. */
export interface WebhookTenant {
  /** What every delivery carries. */
  secret?: string | undefined;
  /** What every delivery is signed with. */
  signingSecret?: string | undefined;
  /** @throws NotAnEvent, or any other error when the event could not be kept */
  receive(body: string): Promise<Receipt>;
}

/** What came of a delivery, for whoever counts. */
export interface Delivered {
  /** Name in the address; undefined where there is no such tenant. */
  tenant: string | undefined;
  status: number;
  receipt?: Receipt;
}

export interface WebhookOptions {
  tenant(name: string): WebhookTenant | undefined;
  /** Of one delivery. */
  maxBytes?: number;
  onError(error: unknown): void;
  onDelivery?(delivered: Delivered): void;
}

/** Answers what is sent below `/webhooks/`. @returns whether it is that */
export type WebhookHandler = (
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
) => boolean;

const prefix = '/webhooks/';
const usualMaxBytes = 1024 * 1024;
const againSeconds = 5;
const signatureHeaders = ['x-webhook-signature', 'x-signature', 'x-hub-signature-256'];

/** A refusal, as it is answered. */
class Refused extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

const unauthorized = (): Refused => new Refused(401, 'Unauthorized');

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
  const [name = '', secret, ...rest] = path.split('/').map(decoded);
  const tenant = rest.length === 0 ? options.tenant(name) : undefined;
  const known = { tenant: tenant ? name : undefined };
  try {
    const receipt = await receive(tenant, secret, request, options.maxBytes ?? usualMaxBytes);
    send(response, 200, { status: receipt.how === 'new' ? 'kept' : 'known' });
    options.onDelivery?.({ ...known, status: 200, receipt });
  } catch (error) {
    if (request.destroyed && !request.complete) return; // The sender has gone away.
    const refused = refusalOf(error, options.onError);
    // What was not read of the body would be taken for the next request.
    const close = request.complete ? {} : { connection: 'close' };
    send(response, refused.status, { error: refused.message }, { ...refused.headers, ...close });
    options.onDelivery?.({ ...known, status: refused.status });
  }
}

function decoded(word: string): string {
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
  if (request.method !== 'POST') throw new Refused(405, 'Only POST', { allow: 'POST' });
  const { headers } = request;
  const said = secretInPath ?? textOf(headers, 'x-webhook-secret');
  const isKnown = isSameSecret(said ?? '', tenant?.secret ?? '');
  if (!tenant || (tenant.secret !== undefined && !isKnown)) throw unauthorized();
  const body = await readBody(request, maxBytes);
  if (tenant.signingSecret !== undefined && !isSigned(headers, body, tenant.signingSecret)) {
    throw unauthorized();
  }
  if (!isUtf8(body)) throw new Refused(400, 'the body is not UTF-8');
  return tenant.receive(body.toString('utf8').replace(/^\uFEFF/, ''));
}

function textOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** HMAC-SHA256 of the body as it was sent, in hexadecimal digits or base64, with or without `sha256=`. */
function isSigned(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const signature = createHmac('sha256', secret).update(body).digest();
  const said = signatureHeaders
    .map((name) =>
      textOf(headers, name)
        ?.trim()
        .replace(/^sha256=/i, ''),
    )
    .find((text) => text !== undefined);
  if (said === undefined) return false;
  const isHex = /^[0-9a-f]{64}$/i.test(said);
  return isSameSecret(
    Buffer.from(said, isHex ? 'hex' : 'base64').toString('hex'),
    signature.toString('hex'),
  );
}

/** @throws Refused for one that is too large or packed; Error when the sender goes away */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { 'content-length': length = '0', 'content-encoding': encoding = 'identity' } =
    request.headers;
  const tooLarge = new Refused(413, `the body is larger than ${maxBytes} bytes`);
  if (encoding !== 'identity') throw new Refused(415, 'the body must not be compressed');
  if (Number(length) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let read = 0;
  // Left undestroyed when it is left early: the refusal goes out over the same connection.
  for await (const chunk of request.iterator({
    destroyOnReturn: false,
  }) as AsyncIterable<Buffer>) {
    read += chunk.length;
    if (read > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refusalOf(error: unknown, onError: (error: unknown) => void): Refused {
  if (error instanceof Refused) return error;
  if (error instanceof NotAnEvent) return new Refused(400, error.message);
  onError(error);
  // The service sends it again.
  return new Refused(503, 'It could not be kept now', { 'retry-after': String(againSeconds) });
}

function send(
  response: ServerResponse,
  status: number,
  body: Record<string, string>,
  headers: Record<string, string> = {},
): void {
  if (response.destroyed) return;
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    })
    .end(text);
}
