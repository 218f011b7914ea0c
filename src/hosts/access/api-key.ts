import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ConfigError } from '../../config.ts';
import { BoundedMap } from '../../containers.ts';
import { ApiClient } from '../../service/client.ts';
import type { WireLimits } from '../../service/connections/connections.ts';
import { isApiError, privateAddress } from '../../service/errors.ts';
import { TrafficControl } from '../../service/traffic/traffic-control.ts';
import { baseUrlFrom, headerSafe } from '../../setting-values.ts';
import { KeyedMutex } from '../../state/keyed-mutex.ts';
import type { RateWindow } from '../../state/port.ts';
import type { Tenant } from '../../tenant/tenant.ts';
import { FailureLimiter } from './failure-limiter.ts';
import type { AuthStrategy } from './gate.ts';
import { HttpError, isGuess, retryAfterHeader } from './http-error.ts';
import { isPrivate, lookupPublicOnly } from './public-only.ts';
import type { ServedTenant } from './tenant-registry.ts';

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

/** Restricts the addresses that may be connected to. */
export type ConnectLimits = Pick<WireLimits, 'lookup'>;

const challenge = 'ApiKey realm="cpq-mcp"';
const keyHeader = 'api-key';
const addressHeader = 'cpq-base-url';
const maxOpenTenants = 256;
const idleMs = 15 * 60_000;
const checkMs = 10_000;
const checkWindowMs = 600_000;
/** Rate budget for checks of unknown keys, per address of the service; separate from the tenant's budget. */
const keyCheckBudget = { requests: 60, windowSeconds: checkWindowMs / 1000 };
/** Rate budget for all key checks, including known keys and retries. */
const checkRequestBudget = { ...keyCheckBudget, requests: 2 * keyCheckBudget.requests };
/** Checks reserved for senders that have not sent a wrong key. */
const reservedChecks = 30;
/** Wrong keys that are checked per sender and window. */
const maxWrongKeys = 10;
/** Keys accepted earlier; checking them again does not use `keyCheckBudget`. */
const maxRemembered = 10_000;
const retryAfterSeconds = 5;
/** How long a refused key is rejected without asking the service again. */
const refusedMs = 60_000;
const maxRefusedKeys = 1_000;

/**
 * Authenticates callers by their own key of the service. Each pair of address and key gets its own tenant,
 * closed when idle, so that data read with one key is never served to another.
 * @throws ConfigError for an invalid address
 */
export function apiKeyStrategy(options: ApiKeyOptions): AuthStrategy {
  const { baseUrls, allowPrivate } = options;
  if (baseUrls.length === 0) {
    throw new ConfigError(
      (nameOf) =>
        `${nameOf('auth')}=key needs ${nameOf('keyBaseUrls')}: the addresses of the service that callers may name`,
    );
  }
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
      if (!allowPrivate && isPrivateAddress(baseUrl)) throw privateAddressError();
      const tenant = await tenants.find(baseUrl, key, sender);
      return { caller: `key:${tenant.tenant.key.identity}`, tenant, grants: tenant.grants };
    },
  };
}

function apiKeyFrom({ headers }: IncomingMessage): string | undefined {
  const header = headers[keyHeader];
  if (typeof header !== 'string' || header === '') return undefined;
  try {
    return headerSafe(header);
  } catch {
    throw new HttpError(401, `The header ${keyHeader} does not hold a key.`, {
      countsAsFailure: true,
      headers: { 'www-authenticate': challenge },
    });
  }
}

/** The address in the header, or the only allowed one. */
function addressFrom({ headers }: IncomingMessage, baseUrls: readonly string[]): URL {
  const header = headers[addressHeader];
  const [only, ...others] = baseUrls;
  const text = typeof header === 'string' && header !== '' ? header : only;
  const isGiven = text === header || (others.length === 0 && !only?.includes('*'));
  try {
    if (isGiven && text !== undefined) return baseUrlFrom(text);
  } catch {
    // Rejected below, without repeating the value: it may be a misplaced secret.
  }
  throw new HttpError(
    403,
    `Say which address of the service is meant in the header ${addressHeader}.`,
  );
}

/** Matches a whole address; `*` matches one label of the host name. */
function addressPattern(allowed: string): RegExp {
  const label = 'cpq-any-label';
  const { href } = baseUrlFrom(allowed.replaceAll('*', label));
  const escaped = href.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll(label, '[a-z0-9-]+')}$`);
}

/** Checks literal IP addresses; host names are checked when they are resolved. */
const isPrivateAddress = ({ hostname }: URL): boolean =>
  isPrivate(hostname.replace(/^\[|\]$/g, ''));

const privateAddressError = (): HttpError =>
  new HttpError(
    403,
    'That address leads to a private network. The operator of this server can allow it.',
  );

interface CachedTenant {
  tenant: RetirableTenant;
  usedAt: number;
}

class KeyTenantCache {
  readonly #options: ApiKeyOptions;
  readonly #connectLimits: ConnectLimits;
  /** Least recently used first. Only an accepted key can evict another. */
  readonly #open = new Map<string, CachedTenant>();
  /** Checks in progress; concurrent requests share one. */
  readonly #checking = new Map<string, Promise<RetirableTenant>>();
  /** Refused keys and when each may be checked again, earliest first. */
  readonly #refused = new BoundedMap<string, number>(maxRefusedKeys);
  /** Keys that the service accepted at their last check, oldest first. */
  readonly #knownGood = new BoundedMap<string, true>(maxRemembered);
  readonly #wrongKeys = new FailureLimiter(maxWrongKeys, checkWindowMs);
  readonly #mutex = new KeyedMutex();
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: ApiKeyOptions) {
    this.#options = options;
    this.#connectLimits = options.allowPrivate ? {} : { lookup: lookupPublicOnly };
  }

  /** @throws HttpError for a key that the service refuses or that cannot be checked now */
  async find(baseUrl: URL, key: string, sender: string): Promise<RetirableTenant> {
    const name = createHash('sha256').update(`${baseUrl.href}\n${key}`).digest('base64url');
    const cached = this.#open.get(name);
    if (cached && !cached.tenant.tenant.key.refused) return this.#touch(name, cached.tenant);
    if ((this.#refused.peek(name) ?? 0) > Date.now()) throw wrongKeyError();
    const checking = this.#checking.get(name) ?? this.#openTenant(name, baseUrl, key, sender);
    this.#checking.set(name, checking);
    return checking;
  }

  async #openTenant(
    name: string,
    baseUrl: URL,
    key: string,
    sender: string,
  ): Promise<RetirableTenant> {
    try {
      if (this.#knownGood.peek(name)) await this.#checkService(baseUrl, key);
      // Unknown keys of one sender are checked one at a time: each result decides whether the next is checked.
      else
        await this.#mutex.runExclusive(sender, () => this.#checkUnknownKey(baseUrl, key, sender));
      this.#knownGood.set(name, true);
      const opened = this.#open.get(name)?.tenant;
      return this.#touch(name, opened ?? this.#options.open(baseUrl, key, this.#connectLimits));
    } catch (error) {
      if (isGuess(error)) this.#refuse(name);
      throw error;
    } finally {
      this.#checking.delete(name);
    }
  }

  #checkService(baseUrl: URL, key: string): Promise<void> {
    return verifyKey(baseUrl, key, this.#options.rates, this.#connectLimits);
  }

  async #checkUnknownKey(baseUrl: URL, key: string, sender: string): Promise<void> {
    const wait = this.#wrongKeys.waitSeconds(sender);
    if (wait > 0) throw tooManyChecks('from this address', wait);
    await this.#takeCheck(baseUrl, this.#wrongKeys.isClean(sender) ? 0 : reservedChecks);
    try {
      await this.#checkService(baseUrl, key);
    } catch (error) {
      if (isGuess(error)) this.#wrongKeys.count(sender);
      throw error;
    }
  }

  /** @throws HttpError when the budget for unknown keys of this address is used up */
  async #takeCheck(baseUrl: URL, reserve: number): Promise<void> {
    const rule = { limit: keyCheckBudget.requests, windowMs: checkWindowMs, reserve };
    const name = `checks of unknown keys of ${baseUrl.href}`;
    const { taken, waitMs } = await this.#options.rates.take(name, rule, Date.now());
    if (!taken) throw tooManyChecks('for that address of the service', waitMs / 1000);
  }

  #refuse(name: string): void {
    this.#knownGood.delete(name);
    this.#refused.set(name, Date.now() + refusedMs);
  }

  #touch(name: string, tenant: RetirableTenant): RetirableTenant {
    this.#open.delete(name);
    this.#open.set(name, { tenant, usedAt: Date.now() });
    this.#closeIdle();
    return tenant;
  }

  /** Closes idle tenants now, and schedules the next check. */
  #closeIdle(): void {
    clearTimeout(this.#idleTimer);
    const since = Date.now() - idleMs;
    for (const [name, { tenant, usedAt }] of this.#open) {
      if (usedAt > since && this.#open.size <= maxOpenTenants) {
        this.#idleTimer = setTimeout(() => this.#closeIdle(), usedAt - since);
        this.#idleTimer.unref();
        return;
      }
      this.#open.delete(name);
      tenant.retire();
    }
  }
}

/** Checks a key by one small request to the service. @throws HttpError */
async function verifyKey(
  baseUrl: URL,
  key: string,
  rates: RateWindow,
  limits: ConnectLimits,
): Promise<void> {
  const budgetName = `checks of keys of ${baseUrl.href}`;
  const interceptor = new TrafficControl({ rates, budgetName, budget: checkRequestBudget });
  const client = new ApiClient({ baseUrl, key, pageParam: 'none', limits, interceptor });
  const signal = AbortSignal.timeout(checkMs);
  try {
    const call = { signal, deadline: Date.now() + checkMs, purpose: 'interactive' } as const;
    await client.page('company', { size: 1 }, call);
  } catch (error) {
    // The key is valid, only not for this route.
    if (!isApiError(error, 'not-permitted')) throw toHttpError(error);
  } finally {
    await client.close();
  }
}

const wrongKeyError = (): HttpError =>
  new HttpError(401, 'The service does not accept this key at that address.', {
    countsAsFailure: true,
    headers: { 'www-authenticate': challenge },
  });

/** Does not reveal whether the key is valid. */
const tooManyChecks = (source: string, seconds: number): HttpError =>
  new HttpError(
    429,
    `Too many unknown keys were sent ${source}: this key is not checked now. Try again in ${Math.ceil(seconds)} s.`,
    { headers: retryAfterHeader(seconds) },
  );

function toHttpError(error: unknown): HttpError {
  if (isApiError(error, 'key-refused')) return wrongKeyError();
  if (isApiError(error, 'rate-limited', 'budget-spent')) {
    return new HttpError(
      503,
      'The key cannot be checked now: the service takes no more requests for a while.',
      { headers: retryAfterHeader(error.facts.seconds ?? retryAfterSeconds) },
    );
  }
  if (isApiError(error, 'unreachable') && error.facts.code === privateAddress)
    return privateAddressError();
  return new HttpError(503, 'The key cannot be checked now: the service does not answer.', {
    headers: retryAfterHeader(retryAfterSeconds),
  });
}
