import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ApiClient } from '../../api/client.ts';
import { isApiError, privateAddress } from '../../api/errors.ts';
import type { WireLimits } from '../../api/wire.ts';
import { baseUrlFrom, ConfigError, headerSafe } from '../../config.ts';
import type { RateWindow } from '../../state/port.ts';
import { Turns } from '../../state/turns.ts';
import type { Tenant } from '../../tenant/tenant.ts';
import { Denied, isGuess, retryAfter } from './denied.ts';
import type { Door } from './doors.ts';
import { Failures } from './failures.ts';
import type { Way } from './gate.ts';
import { isPrivate, publicOnly } from './public-only.ts';

/** A tenant that is open for as long as its key is used. */
export interface OpenedDoor extends Door {
  readonly tenant: Tenant;
  /** Ends it once its calls have ended. */
  retire(): void;
}

export interface OwnKeyOptions {
  /** Addresses that may be named; `*` stands for a label of the host name. */
  baseUrls: readonly string[];
  allowPrivate: boolean;
  rates: RateWindow;
  /** Opens the tenant of an address and a key that the service accepts. */
  open(baseUrl: URL, key: string, limits: Reach): OpenedDoor;
}

/** What may be connected to. */
export type Reach = Pick<WireLimits, 'lookup'>;

const challenge = 'ApiKey realm="cpq-mcp"';
const keyHeader = 'api-key';
const addressHeader = 'cpq-base-url';
const mostOpen = 256;
const idleMs = 15 * 60_000;
const checkMs = 10_000;
const checkWindowMs = 600_000;
/** Checks of keys that are not known draw on this, and not on the tenant's budget. */
const checks = { requests: 60, windowSeconds: checkWindowMs / 1000 };
/** The same with the checks of keys that were good before, and with repeated requests. */
const requestsOfChecks = { ...checks, requests: 2 * checks.requests };
/** Of the checks, those that are left to senders that have shown no wrong key. */
const reservedChecks = 30;
/** Wrong keys that are checked for one sender in that time. */
const maxWrongKeys = 10;
/** Keys that were good are checked without this budget when they come again. */
const maxRemembered = 10_000;
const againSeconds = 5;
/** How long a key that the service refused is not shown to it again: whoever tries it does so at once. */
const refusedMs = 60_000;
const mostRefused = 1_000;

/**
 * Callers with their own key of the service, and its address where several are allowed. Each address and
 * key has a tenant to itself, which is shut when it is not used: nobody is answered from what was read
 * with another's key.
 * @throws ConfigError for an address that is none
 */
export function ownKey(options: OwnKeyOptions): Way {
  const { baseUrls, allowPrivate } = options;
  if (baseUrls.length === 0) {
    throw new ConfigError(
      'CPQ_AUTH=key needs CPQ_KEY_BASE_URLS: the addresses of the service that callers may name',
    );
  }
  const allowed = baseUrls.map(patternOf);
  const held = new HeldDoors(options);
  return {
    asksFor: challenge,
    async recognise(request, sender) {
      const key = keyOf(request);
      if (key === undefined) return undefined;
      const baseUrl = addressOf(request, baseUrls);
      if (!allowed.some((pattern) => pattern.test(baseUrl.href))) {
        throw new Denied(403, 'This server does not serve that address of the service.');
      }
      if (!allowPrivate && leadsInside(baseUrl)) throw inside();
      const door = await held.find(baseUrl, key, sender);
      return { caller: `key:${door.tenant.identity}`, door, grants: door.grants };
    },
  };
}

function keyOf({ headers }: IncomingMessage): string | undefined {
  const said = headers[keyHeader];
  if (typeof said !== 'string' || said === '') return undefined;
  try {
    return headerSafe(said);
  } catch {
    throw new Denied(401, `The header ${keyHeader} does not hold a key.`, {
      guessed: true,
      headers: { 'www-authenticate': challenge },
    });
  }
}

/** As it is said, or the only one that can be meant. */
function addressOf({ headers }: IncomingMessage, baseUrls: readonly string[]): URL {
  const said = headers[addressHeader];
  const [only, ...others] = baseUrls;
  const text = typeof said === 'string' && said !== '' ? said : only;
  const isSaid = text === said || (others.length === 0 && !only?.includes('*'));
  try {
    if (isSaid && text !== undefined) return baseUrlFrom(text);
  } catch {
    // Told below, without repeating what may be a secret in the wrong place.
  }
  throw new Denied(
    403,
    `Say which address of the service is meant in the header ${addressHeader}.`,
  );
}

/** The whole address, of which `*` in the host name stands for one label. */
function patternOf(allowed: string): RegExp {
  const label = 'cpq-any-label';
  const { href } = baseUrlFrom(allowed.replaceAll('*', label));
  const escaped = href.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll(label, '[a-z0-9-]+')}$`);
}

/** A literal address; where a name leads is looked at when it is connected to. */
const leadsInside = ({ hostname }: URL): boolean => isPrivate(hostname.replace(/^\[|\]$/g, ''));

const inside = (): Denied =>
  new Denied(
    403,
    'That address leads to a private network. Whoever runs this server can allow it.',
  );

interface HeldDoor {
  door: OpenedDoor;
  usedAt: number;
}

/** The tenants of the keys that were used lately. */
class HeldDoors {
  readonly #options: OwnKeyOptions;
  readonly #reach: Reach;
  /** In order of use, the latest last. Only a key that is good can drive another out. */
  readonly #held = new Map<string, HeldDoor>();
  /** Those that are being looked at, each once. */
  readonly #checking = new Map<string, Promise<OpenedDoor>>();
  /** When those that were refused may be tried again, in order. */
  readonly #refused = new Map<string, number>();
  /** Those that the service accepted when they were last checked, in order. */
  readonly #good = new Set<string>();
  readonly #wrong = new Failures(maxWrongKeys, checkWindowMs);
  readonly #turns = new Turns();
  #shutting: NodeJS.Timeout | undefined;

  constructor(options: OwnKeyOptions) {
    this.#options = options;
    this.#reach = options.allowPrivate ? {} : { lookup: publicOnly };
  }

  /** @throws Denied for a key that the service refuses, and for one that cannot be checked now */
  async find(baseUrl: URL, key: string, sender: string): Promise<OpenedDoor> {
    const name = createHash('sha256').update(`${baseUrl.href}\n${key}`).digest('base64url');
    const known = this.#held.get(name);
    if (known && !known.door.tenant.keyRefused) return this.#use(name, known.door);
    if ((this.#refused.get(name) ?? 0) > Date.now()) throw wrongKey();
    const checking = this.#checking.get(name) ?? this.#check(name, baseUrl, key, sender);
    this.#checking.set(name, checking);
    return checking;
  }

  async #check(name: string, baseUrl: URL, key: string, sender: string): Promise<OpenedDoor> {
    try {
      if (this.#good.has(name)) await this.#ask(baseUrl, key);
      // Of one sender one after the other: what became of the first says whether the next is checked.
      else await this.#turns.take(sender, () => this.#askForUnknown(baseUrl, key, sender));
      this.#remember(name);
      const held = this.#held.get(name)?.door;
      return this.#use(name, held ?? this.#options.open(baseUrl, key, this.#reach));
    } catch (error) {
      if (isGuess(error)) this.#refuse(name);
      throw error;
    } finally {
      this.#checking.delete(name);
    }
  }

  #ask(baseUrl: URL, key: string): Promise<void> {
    return check(baseUrl, key, this.#options.rates, this.#reach);
  }

  async #askForUnknown(baseUrl: URL, key: string, sender: string): Promise<void> {
    const wait = this.#wrong.waitSeconds(sender);
    if (wait > 0) throw tooManyChecks('from this address', wait);
    await this.#takeCheck(baseUrl, this.#wrong.isClean(sender) ? 0 : reservedChecks);
    try {
      await this.#ask(baseUrl, key);
    } catch (error) {
      if (isGuess(error)) this.#wrong.count(sender);
      throw error;
    }
  }

  /** @throws Denied where no unknown key is checked for this address of the service now */
  async #takeCheck(baseUrl: URL, reserve: number): Promise<void> {
    const rule = { limit: checks.requests, windowMs: checkWindowMs, reserve };
    const name = `checks of unknown keys of ${baseUrl.href}`;
    const { taken, waitMs } = await this.#options.rates.take(name, rule, Date.now());
    if (!taken) throw tooManyChecks('for that address of the service', waitMs / 1000);
  }

  #remember(name: string): void {
    this.#good.delete(name);
    this.#good.add(name);
    const [first] = this.#good;
    if (this.#good.size > maxRemembered && first !== undefined) this.#good.delete(first);
  }

  #refuse(name: string): void {
    this.#good.delete(name);
    this.#refused.delete(name);
    this.#refused.set(name, Date.now() + refusedMs);
    const [first] = this.#refused.keys();
    if (this.#refused.size > mostRefused && first !== undefined) this.#refused.delete(first);
  }

  #use(name: string, door: OpenedDoor): OpenedDoor {
    this.#held.delete(name);
    this.#held.set(name, { door, usedAt: Date.now() });
    this.#shutIdle();
    return door;
  }

  /** Now, and again when the next may have become idle. */
  #shutIdle(): void {
    clearTimeout(this.#shutting);
    const since = Date.now() - idleMs;
    for (const [name, { door, usedAt }] of this.#held) {
      if (usedAt > since && this.#held.size <= mostOpen) {
        this.#shutting = setTimeout(() => this.#shutIdle(), usedAt - since);
        this.#shutting.unref();
        return;
      }
      this.#held.delete(name);
      door.retire();
    }
  }
}

/** One small request to the service. @throws Denied */
async function check(baseUrl: URL, key: string, rates: RateWindow, limits: Reach): Promise<void> {
  const budgetName = `checks of keys of ${baseUrl.href}`;
  const common = { baseUrl, key, pageParam: 'none', rates, limits };
  const client = new ApiClient({ ...common, budgetName, budget: requestsOfChecks });
  const signal = AbortSignal.timeout(checkMs);
  try {
    const call = { signal, deadline: Date.now() + checkMs, purpose: 'interactive' } as const;
    await client.page('company', { size: 1 }, call);
  } catch (error) {
    // It is a key, and may be good for other things.
    if (!isApiError(error, 'not-permitted')) throw refusalOf(error);
  } finally {
    await client.close();
  }
}

const wrongKey = (): Denied =>
  new Denied(401, 'The service does not accept this key at that address.', {
    guessed: true,
    headers: { 'www-authenticate': challenge },
  });

/** It is said of nobody's key whether it is good. */
const tooManyChecks = (of: string, seconds: number): Denied =>
  new Denied(
    429,
    `Too many unknown keys were shown ${of}: this key is not checked now. Try again in ${Math.ceil(seconds)} s.`,
    { headers: retryAfter(seconds) },
  );

function refusalOf(error: unknown): Denied {
  if (isApiError(error, 'key-refused')) return wrongKey();
  if (isApiError(error, 'rate-limited', 'budget-spent')) {
    return new Denied(
      503,
      'The key cannot be checked now: the service takes no more requests for a while.',
      { headers: retryAfter(error.facts.seconds ?? againSeconds) },
    );
  }
  if (isApiError(error, 'unreachable') && error.facts.code === privateAddress) return inside();
  return new Denied(503, 'The key cannot be checked now: the service does not answer.', {
    headers: retryAfter(againSeconds),
  });
}
