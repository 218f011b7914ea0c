import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Slots } from '../containers.ts';
import { jsonOf, UnrecognizedEvent } from '../events/read-event.ts';
import type { DeliveryReceipt } from '../events/receive.ts';
import { isSameSecret } from '../mcp/signature.ts';
import { decodeSegment } from '../values.ts';
import type { GuessLimiter } from './access/gate.ts';
import { HttpError, isGuess } from './access/http-error.ts';
import { readBody, readChunks, requireReadable, sendJson, sendRefusal } from './http-io.ts';

export interface WebhookTenant {
  /** Secret sent with every delivery. */
  secret: string;
  /** @throws UnrecognizedEvent, or another error when the event could not be stored */
  receive(body: string): Promise<DeliveryReceipt>;
}

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
  onError(error: unknown): void;
  onDelivery(result: DeliveryResult): void;
}

export type WebhookHandler = ReturnType<typeof webhookHandler>;

const prefix = '/webhooks/';
/** Bodies of one tenant that are read at once; a body that waits is not read, and so takes no memory. */
const maxBodies = 16;

/**
 * Handles requests below `/webhooks/`, and returns whether the path is one of them. Answered with 200 once every event is
 * stored. A sender without the secret is not told which tenants exist.
 */
export function webhookHandler({ tenant: find, guesses, onError, onDelivery }: WebhookOptions) {
  const bodies = new Map<string, Slots>();

  async function answer(path: string, request: IncomingMessage, response: ServerResponse) {
    const segments = path.slice(prefix.length).split('/').map(decodeSegment);
    const [name = '', secretInPath, ...rest] = segments;
    const found = rest.length === 0 ? find(name) : undefined;
    const tenant = found && name;
    try {
      requireDelivery(request);
      const slots = bodies.get(name) ?? new Slots(maxBodies);
      if (found) bodies.set(name, slots);
      const work = () =>
        receive(found, request, secretInPath, () => slots.run(() => readBody(request)));
      const delivery = await limitGuesses(guesses, guesses.senderOf(request), tenant, work);
      sendJson(response, 200, describeReceipt(delivery));
      onDelivery({ tenant, status: 200, delivery });
    } catch (error) {
      if (request.destroyed && !request.complete) return; // The sender has disconnected.
      const rejection = toRejection(error, onError);
      sendRefusal(request, response, rejection);
      onDelivery({ tenant, status: rejection.status });
    }
  }

  return (path: string, request: IncomingMessage, response: ServerResponse): boolean => {
    if (!path.startsWith(prefix)) return false;
    answer(path, request, response).catch(onError);
    return true;
  };
}

/** `kept` if at least one event is new; of a list also how many events were handled in which way. */
function describeReceipt({ receipts, unrecognized, isList }: DeliveryReceipt) {
  const kept = receipts.filter((how) => how === 'new').length;
  const status = kept > 0 ? 'kept' : 'known';
  return isList ? { status, kept, known: receipts.length - kept, unrecognized } : { status };
}

/**
 * Guesses are counted per tenant, so that a wrong secret of one tenant does not block the deliveries of others. All
 * guesses of a sender are counted too: after too many, further ones are answered with 429 whether the tenant exists or
 * not, so that invented names are limited, and the response does not reveal which names exist.
 * @param tenant undefined for an unknown name
 * @throws HttpError (429) after too many wrong secrets; what `work` throws
 */
async function limitGuesses<T>(
  guesses: GuessLimiter,
  address: string,
  tenant: string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const sender = `${address} webhooks`;
  const ofTenant = tenant === undefined ? [] : [`${sender} of ${tenant}`];
  for (const name of ofTenant) guesses.check(name);
  try {
    return await work();
  } catch (error) {
    if (!isGuess(error)) throw error;
    guesses.check(sender);
    for (const name of [sender, ...ofTenant]) guesses.count(name);
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
  const read = () => readChunks(headers, Readable.from(request.body ?? []));
  try {
    requireDelivery({ method: request.method, headers });
    const receipt = await receive(tenant, { headers }, secretInPath, read);
    return Response.json(describeReceipt(receipt));
  } catch (error) {
    const { status, message, headers } = toRejection(error, onError);
    return Response.json({ error: message }, { status, headers });
  }
}

interface Delivery {
  method?: string | undefined;
  headers: IncomingHttpHeaders;
}

/** What is refused alike for every tenant. @throws HttpError */
function requireDelivery({ method, headers }: Delivery): void {
  if (method !== 'POST') throw new HttpError(405, 'Only POST', { headers: { allow: 'POST' } });
  requireReadable(headers);
}

/** The secret is checked before the body is read. */
async function receive(
  tenant: WebhookTenant | undefined,
  { headers }: Pick<Delivery, 'headers'>,
  secretInPath: string | undefined,
  read: () => Promise<Buffer>,
): Promise<DeliveryReceipt> {
  const hasSecret = [headers['x-webhook-secret'], secretInPath].some((given) =>
    isSameSecret(String(given ?? ''), tenant?.secret ?? ''),
  );
  // The same answer for a wrong secret and for an unknown tenant.
  if (!tenant || !hasSecret) throw new HttpError(401, 'Unauthorized', { countsAsFailure: true });
  const body = await read();
  if (!isUtf8(body)) throw new HttpError(400, 'the body is not UTF-8');
  return tenant.receive(jsonOf(body.toString('utf8').replace(/^\uFEFF/, ''), headers));
}

function toRejection(error: unknown, onError: (error: unknown) => void): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof UnrecognizedEvent) return new HttpError(400, error.message);
  onError(error);
  // The service will retry the delivery.
  return new HttpError(503, 'The event cannot be stored now', { retryAfter: 5 });
}
