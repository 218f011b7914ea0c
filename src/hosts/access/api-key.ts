import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '../../containers.ts';
import { ApiClient } from '../../service/client.ts';
import type { WireLimits } from '../../service/connections/connections.ts';
import { type ApiError, isApiError, privateAddress } from '../../service/errors.ts';
import { trafficControl } from '../../service/traffic/traffic-control.ts';
import { baseUrlFrom, headerSafe } from '../../setting-values.ts';
import { KeyedMutex } from '../../state/keyed-mutex.ts';
import { MemoryRates } from '../../state/memory-rates.ts';
import type { RateWindow } from '../../state/port.ts';
import type { Tenant } from '../../tenant/tenant.ts';
import { isAccessToken } from './access-tokens.ts';
import type { AuthStrategy, ServedTenant } from './gate.ts';
import { HttpError, isGuess } from './http-error.ts';
import { isPrivate, lookupPublicOnly } from './networks.ts';

/** A tenant opened for a caller's own key; closed when idle. */
export interface RetirableTenant extends ServedTenant {
  readonly tenant: Tenant;
  /** Closes the tenant after its calls have ended. */
  retire(): void;
}

export interface ApiKeyOptions {
  /** Allowed addresses of the service; `*` matches one label of the host name. */
  baseUrls: readonly string[];
  allowPrivate: boolean;
  rates: RateWindow;
  /** Opens the tenant of an address and a key that the service accepts. */
  open(baseUrl: URL, key: string, limits: ConnectLimits): RetirableTenant;
}

export type ConnectLimits = Pick<WireLimits, 'lookup'>;

const challenge = 'ApiKey realm="cpq-mcp"';
const keyHeader = 'api-key';
const addressHeader = 'cpq-base-url';
const maxOpenTenants = 256;
const idleMs = 15 * 60_000;
const checkMs = 10_000;
const windowMs = 600_000;
/** Checks of keys per address of the service; separate from the tenant's budget. */
const checkRule = { limit: 120, windowMs };
/** Of these, checks that remain for keys that were accepted, and for senders that have not sent a wrong key. */
const reserved = { accepted: 0, cleanSender: 60, other: 90 };
/** Wrong keys that are checked per sender. */
const wrongKeyRule = { limit: 10, windowMs, reserve: 0 };
/** Keys whose last check is remembered. */
const maxRemembered = 10_000;
const retryAfterSeconds = 5;
/** How long a refused key is rejected without asking the service again. */
const refusedMs = 60_000;

/** Each pair of address and key gets its own tenant, so that data read with one key is never served to another. */
export function apiKeyStrategy(options: ApiKeyOptions): AuthStrategy {
  const { baseUrls, allowPrivate } = options;
  const allowed = baseUrls.map(addressPattern);
  const tenants = new KeyTenantCache(options);
  return {
    wwwAuthenticate: challenge,
    async authenticate(request, sender) {
      const key = apiKeyFrom(request);
      if (key === undefined) return undefined;
      const baseUrl = addressFrom(request, baseUrls);
      if (!allowed.some((pattern) => pattern.test(baseUrl.href))) {
        throw new HttpError(403, 'This server does not serve that address of the service.');
      }
      // Literal IP addresses; host names are checked when they are resolved.
      const host = baseUrl.hostname.replace(/^\[|\]$/g, '');
      if (!allowPrivate && isPrivate(host)) throw new HttpError(403, leadsToPrivate);
      const tenant = await tenants.find(baseUrl, key, sender);
      return { caller: `key:${tenant.tenant.key.identity}`, tenant, grants: tenant.grants };
    },
  };
}

function apiKeyFrom({ headers }: IncomingMessage): string | undefined {
  const header = headers[keyHeader];
  if (typeof header !== 'string' || header === '') return undefined;
  try {
    // The service has no use for an access token of this server.
    if (!isAccessToken(header)) return headerSafe(header);
  } catch {
    // Refused below.
  }
  throw wrongKeyError('This is no key of the service.');
}

/** The address in the header, or the only allowed one. */
function addressFrom({ headers }: IncomingMessage, baseUrls: readonly string[]): URL {
  const [only = '', ...others] = baseUrls;
  const known = others.length > 0 || only.includes('*') ? '' : only;
  try {
    return baseUrlFrom(String(headers[addressHeader] ?? '') || known);
  } catch {
    // Without the value: it may be a misplaced secret.
    const message = `Say which address of the service is meant in the header ${addressHeader}.`;
    throw new HttpError(403, message);
  }
}

/** Matches a whole address; `*` matches one label of the host name. */
function addressPattern(allowed: string): RegExp {
  const label = 'cpq-any-label';
  const { href } = baseUrlFrom(allowed.replaceAll('*', label));
  const escaped = href.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll(label, '[a-z0-9-]+')}$`);
}

const leadsToPrivate =
  'That address leads to a private network. The operator of this server can allow it.';

interface CachedTenant {
  tenant: RetirableTenant;
  /** Closes the tenant when it was not used for a while. */
  idle: NodeJS.Timeout;
}

class KeyTenantCache {
  readonly #options: ApiKeyOptions;
  readonly #connectLimits: ConnectLimits;
  /** Only an accepted key can evict another. */
  readonly #open = new BoundedMap<string, CachedTenant>(maxOpenTenants, ({ tenant, idle }) => {
    clearTimeout(idle);
    tenant.retire();
  });
  /** Results of the last checks: 0 for an accepted key, or when a refused one may be checked again. */
  readonly #checked = new BoundedMap<string, number>(maxRemembered);
  readonly #wrongKeys = new MemoryRates();
  readonly #mutex = new KeyedMutex();

  constructor(options: ApiKeyOptions) {
    this.#options = options;
    this.#connectLimits = options.allowPrivate ? {} : { lookup: lookupPublicOnly };
  }

  /** @throws HttpError for a key that the service refuses or that cannot be checked now */
  async find(baseUrl: URL, key: string, sender: string): Promise<RetirableTenant> {
    const name = createHash('sha256').update(`${baseUrl.href}\n${key}`).digest('base64url');
    // Keys of one sender are checked one at a time: each result decides whether the next is checked.
    const check = () => this.#known(name) ?? this.#check(name, baseUrl, key, sender);
    return this.#known(name) ?? this.#mutex.runExclusive(sender, async () => check());
  }

  /** @throws HttpError for a key that was refused just now */
  #known(name: string): RetirableTenant | undefined {
    if ((this.#checked.peek(name) ?? 0) > Date.now()) throw wrongKeyError();
    const cached = this.#open.get(name);
    if (!cached || cached.tenant.tenant.key.refused) return undefined;
    cached.idle.refresh();
    return cached.tenant;
  }

  async #check(name: string, baseUrl: URL, key: string, sender: string): Promise<RetirableTenant> {
    try {
      await this.#takeCheck(baseUrl, sender, this.#checked.peek(name) === 0);
      await verifyKey(baseUrl, key, this.#connectLimits);
      this.#checked.set(name, 0);
      return this.#open.get(name)?.tenant ?? this.#opened(name, baseUrl, key);
    } catch (error) {
      if (isGuess(error)) {
        this.#checked.set(name, Date.now() + refusedMs);
        this.#wrongKeys.count(sender, wrongKeyRule, Date.now());
      }
      throw error;
    }
  }

  #opened(name: string, baseUrl: URL, key: string): RetirableTenant {
    const tenant = this.#options.open(baseUrl, key, this.#connectLimits);
    const idle = setTimeout(() => this.#open.delete(name), idleMs).unref();
    this.#open.set(name, { tenant, idle });
    return tenant;
  }

  /** @throws HttpError when the sender sent too many wrong keys, or the checks at this address are used up */
  async #takeCheck(baseUrl: URL, sender: string, wasAccepted: boolean): Promise<void> {
    const wrong = this.#wrongKeys.evaluate(sender, wrongKeyRule, Date.now());
    if (!wasAccepted && !wrong.taken) throw tooManyChecks('from this address', wrong.waitMs);
    const ofSender = wrong.remaining === wrongKeyRule.limit ? reserved.cleanSender : reserved.other;
    const rule = { ...checkRule, reserve: wasAccepted ? reserved.accepted : ofSender };
    const name = `checks of keys of ${baseUrl.href}`;
    const { taken, waitMs } = await this.#options.rates.take(name, rule, Date.now());
    if (!taken) throw tooManyChecks('for that address of the service', waitMs);
  }
}

/** Collections of which a key has to be permitted one. */
const checkedWith = [
  ...(['company', 'opportunity', 'quote', 'product', 'contact'] as const),
  ...(['pricing_book', 'category', 'contract_item'] as const),
];

/** Checks a key by a small request to the service, and by more where that is not permitted. @throws HttpError */
async function verifyKey(baseUrl: URL, key: string, limits: ConnectLimits): Promise<void> {
  // The checks have a budget of their own.
  const traffic = trafficControl({ rates: new MemoryRates(), budgetName: 'check' });
  const options = { baseUrl, key, pageParam: 'none', limits, traffic, isUnchecked: true } as const;
  const client = new ApiClient(options);
  const signal = AbortSignal.timeout(checkMs);
  try {
    const call = { signal, deadline: Date.now() + checkMs, purpose: 'interactive' } as const;
    let isForbidden = false;
    for (const resource of checkedWith) {
      const reading = client.page(resource, { size: 1 }, call);
      const failure: unknown = await reading.then(
        () => undefined,
        (error) => error,
      );
      if (failure === undefined) return;
      isForbidden ||= isApiError(failure, 'not-permitted');
      // The tenant may lack a part of the product.
      if (!isApiError(failure, 'not-permitted', 'no-route') || !isForbidden) throw failure;
    }
    // Of a tenant without the API any key is refused so, also one that was made up.
    throw wrongKeyError('The service lets this key read nothing at that address.');
  } catch (error) {
    throw isApiError(error) ? toHttpError(error) : error;
  } finally {
    await client.close();
  }
}

const wrongKeyError = (
  words = 'The service does not accept this key at that address.',
): HttpError =>
  new HttpError(401, words, {
    countsAsFailure: true,
    headers: { 'www-authenticate': challenge },
  });

/** Does not reveal whether the key is valid. */
function tooManyChecks(source: string, waitMs: number): HttpError {
  const retryAfter = Math.ceil(waitMs / 1000);
  const message = `Too many unknown keys were sent ${source}: this key is not checked now. Try again in ${retryAfter} s.`;
  return new HttpError(429, message, { retryAfter });
}

function toHttpError(error: ApiError): HttpError {
  if (isApiError(error, 'key-refused')) return wrongKeyError();
  if (isApiError(error, 'unreachable') && error.facts.code === privateAddress)
    return new HttpError(403, leadsToPrivate);
  const unchecked = (why: string, retryAfter = retryAfterSeconds) =>
    new HttpError(503, `The key cannot be checked now: the service ${why}.`, { retryAfter });
  if (isApiError(error, 'rate-limited'))
    return unchecked('takes no more requests for a while', error.facts.seconds);
  const isNoApi = isApiError(error, 'web-page', 'no-route', 'redirect');
  return unchecked(isNoApi ? 'has no API at that address' : 'does not answer');
}
