import { delay } from '../../state/delay.ts';
import type { RateDecision, RateWindow, WindowRule } from '../../state/port.ts';
import type { Call, WalkCost } from '../call.ts';
import type { Attempt, Traffic } from '../client.ts';
import { ApiError, type ErrorFacts, isApiError, isInternalError } from '../errors.ts';
import { countInHeader } from '../response.ts';

/** Outcome of a request to the service: the kind of its error; `broken` for one that is no `ApiError`. */
type RequestOutcome = 'ok' | ApiError['kind'] | 'cancelled' | 'broken';

/** Values of one tenant that are read when metrics are collected. */
export interface Gauges {
  remainingBudget(): Promise<number>;
  /** The cached collections and when they were read, in milliseconds since the epoch. */
  cachedCollections(): Iterable<readonly [collection: string, asOf: number]>;
}

/** Observes the requests of one tenant. It receives no customer text. */
export interface Observer {
  /** A request has ended; without a duration if it was rejected locally. Each retry is a separate request. */
  onRequest(outcome: RequestOutcome, seconds?: number): void;
  /** @returns a function that unregisters the gauges */
  registerGauges(gauges: Gauges): () => void;
}

interface ResponseListener {
  /** Whether the last response refused the key. */
  refused: boolean;
  /** Called for every refusal, and for the response after that of the key. `path` is as in `ErrorFacts`. */
  onResponse(path: string, refusal: ApiError | undefined, call: Call): void;
}

export interface TrafficOptions {
  rates: RateWindow;
  /** Identifies the rate budget: clients with the same name share it. */
  budgetName: string;
  /** Requests that the tenant allows in any ten minutes, for all its programs together. Default: 500. */
  requestLimit?: number;
  /** Consecutive failures after which requests are not sent for a while. Default: 5. */
  circuitFailures?: number;
  observer?: Observer | undefined;
  listener?: ResponseListener | undefined;
}

const cooldownMs = 10_000;

/** Failures in a row, and until when no requests are sent, in milliseconds since the epoch. */
interface Circuit {
  failures: number;
  openUntil: number;
  /** Of the last failure, if the service could not be reached. */
  code?: string;
}

/** The circuit of all routes. */
const everyRoute = '';

/** The circuit of a route, such as `opportunity`. */
const routeOf = ({ path = '' }: ErrorFacts): string => path.split('/')[1] ?? everyRoute;

/**
 * Counts the requests to one tenant in its rate budget, reports them, and stops them during an outage: after several
 * consecutive failures, requests fail at once for a while instead of timing out. Then they are sent again; the first one
 * that fails stops the others for as long again. Errors that the service answers with stop requests to their route only:
 * others may work.
 */
export function trafficControl({
  rates,
  budgetName,
  requestLimit = defaultLimit,
  circuitFailures = 5,
  observer,
  listener,
}: TrafficOptions) {
  const budget = rateBudget(rates, budgetName, requestLimit);
  /** Those with failures, by route. */
  const circuits = new Map<string, Circuit>();

  /** @throws ApiError (`circuit-open`) */
  function requireClosedCircuit(facts: ErrorFacts): void {
    const now = Date.now();
    for (const route of [everyRoute, routeOf(facts)]) {
      const circuit = circuits.get(route);
      if (!circuit) continue;
      // Later only if the clock was set back.
      circuit.openUntil = Math.min(circuit.openUntil, now + cooldownMs);
      const seconds = Math.ceil((circuit.openUntil - now) / 1000);
      const { code } = circuit;
      if (seconds > 0)
        throw new ApiError('circuit-open', { ...facts, seconds, ...(code && { code }) });
    }
  }

  function noteOutage(error: unknown, facts: ErrorFacts): void {
    const route = isApiError(error, 'server-error') ? routeOf(facts) : everyRoute;
    const circuit = circuits.get(route) ?? { failures: 0, openUntil: 0 };
    circuits.set(route, circuit);
    circuit.failures += 1;
    circuit.code = isApiError(error, 'unreachable') ? error.facts.code : '';
    if (circuit.failures >= circuitFailures) circuit.openUntil = Date.now() + cooldownMs;
  }

  /** Whether it stops the requests after it, or lets them be sent again. */
  function noteOutcome(attempt: Attempt): void {
    const { request, call, error } = attempt;
    if (error === undefined || isRefusal(error)) {
      for (const route of [everyRoute, routeOf(request.facts)]) circuits.delete(route);
      if (error !== undefined || listener?.refused)
        listener?.onResponse(request.facts.path ?? '', error, call);
    } else if (isOutage(error, attempt)) noteOutage(error, request.facts);
  }

  const traffic: Traffic = {
    /** @throws ApiError (`circuit-open`, `budget-spent`); the signal's reason when cancelled */
    async begin(facts, call) {
      try {
        if (circuits.size > 0) requireClosedCircuit(facts);
        if (Date.now() >= call.deadline)
          throw new ApiError('timed-out', facts, 'the deadline has passed');
        return { number: await budget.take(call, facts), startedAt: performance.now() };
      } catch (error) {
        if (isApiError(error, 'circuit-open', 'budget-spent')) observer?.onRequest(error.kind);
        throw error;
      }
    },
    /** Corrects the budget by the headers of the response, if one was received. */
    async ended({ number, startedAt }, attempt) {
      const { response, error } = attempt;
      const seconds = (performance.now() - startedAt) / 1000;
      observer?.onRequest(error === undefined ? 'ok' : failureOf(attempt), seconds);
      noteOutcome(attempt);
      const remaining = countInHeader(response, 'x-ratelimit-remaining');
      const limit = countInHeader(response, 'x-ratelimit-limit');
      await budget.ended(number, remaining, limit);
      if (error !== undefined && isApiError(error, 'rate-limited') && error.facts.seconds)
        await budget.block(error.facts.seconds);
    },
  };
  return { ...traffic, budget };
}

function failureOf({ call, error }: Attempt): RequestOutcome {
  if (call.signal.aborted) return 'cancelled';
  return isApiError(error) ? error.kind : 'broken';
}

/** Whether the service works, but did not do what was asked. */
const isRefusal = (error: unknown): error is ApiError =>
  isApiError(error) && error.kind !== 'server-error' && error.facts.status !== undefined;

function isOutage(error: unknown, { request, call }: Attempt): boolean {
  // Sizes that are tried in turn may be refused with 500.
  if (request.probesSize && isInternalError(error)) return false;
  // After its deadline a call does not show whether the service works.
  if (isApiError(error, 'timed-out')) return Date.now() < call.deadline;
  return isApiError(error, 'server-error', 'connection-lost', 'unreachable');
}

/** The service's limit, as its response headers show it. */
const defaultLimit = 500;
const windowMs = 600_000;

/** The share of the budget that reading whole collections leaves to single requests. */
const reserveShare = 0.1;
export const reservedOf = (limit: number): number => Math.floor(limit * reserveShare);

/** Below this share of the budget, long walks are slowed down. */
const lowShare = 1 / 3;

/** Waits up to this long. Beyond it the request is rejected, so that the assistant can decide. */
const maxWaitMs = { interactive: 5_000, walk: 15_000 };
const maxPauseMs = 5_000;
/** A walk of which a smaller share can be read now, and more of it later, is not continued after its first page. */
const worthwhileShare = 1 / 2;

/** The rate budget of one tenant, which other programs use too. */
export function rateBudget(window: RateWindow, key: string, requests: number) {
  let rules = rulesFor(requests, requests);
  let lastTaken = 0;
  let lastReportAt = 0;
  /** As last known. */
  let lastRemaining = Number.POSITIVE_INFINITY;
  /** Numbers of requests. */
  const inFlight = new Set<number>();

  const isHopeless = ({ cost }: Call, rule: WindowRule): boolean =>
    cost !== undefined &&
    isTooLittle(cost, lastRemaining - rule.reserve, rules.allowed - rule.reserve);

  /** The error of a request that cannot be sent. Of a walk it says when all that is left of it can be read. */
  async function spent(call: Call, rule: WindowRule, facts: ErrorFacts) {
    const { reserve } = rule;
    const needed = Math.min(rules.allowed - reserve, Math.max(1, call.cost?.left ?? 1));
    const whole = { ...rule, reserve: reserve + needed - 1 };
    const { waitMs, remaining } = await window.peek(key, whole, Date.now());
    // A request counts slightly longer than the window; that extra time is not reported.
    const seconds = Math.ceil(Math.min(waitMs, windowMs) / 1000);
    const isReserved = remaining > 0 && (remaining <= reserve || isHopeless(call, rule));
    const reserved = isReserved ? { reserved: remaining } : {};
    return new ApiError('budget-spent', { ...facts, seconds, ...reserved });
  }

  async function refuseUnlessSoon(call: Call, rule: WindowRule, facts: ErrorFacts, ms: number) {
    const error = await spent(call, rule, facts);
    if ((error.facts.seconds ?? 0) * 1000 > ms) throw error;
  }

  return {
    /** Requests that the tenant allows in the window, as far as the settings permit. */
    get limit(): number {
      return rules.allowed;
    },
    /**
     * Counts one request, after a short wait if necessary. It is in flight until `ended`. What other programs and single
     * requests need is left to them: while little remains, walks are slowed down, or rejected.
     * @throws ApiError (`budget-spent`) when the wait would be too long; the signal's reason when cancelled
     */
    async take(call: Call, facts: ErrorFacts): Promise<number> {
      const { purpose = 'interactive', cost } = call;
      const rule = rules[purpose];
      const pauseMs = Math.min(cost?.pauseMs ?? 0, maxPauseMs);
      const isLow = lastRemaining < Math.floor(rules.allowed * lowShare);
      if (pauseMs > 0 && isLow) await delay(pauseMs, call.signal);
      let patienceMs = Math.min(call.deadline - Date.now(), maxWaitMs[purpose]);
      for (;;) {
        call.signal.throwIfAborted(); // A request that is not sent must not be counted.
        if (isHopeless(call, rule)) await refuseUnlessSoon(call, rule, facts, patienceMs);
        const { taken, waitMs, remaining } = await window.take(key, rule, Date.now());
        lastRemaining = remaining;
        if (taken) {
          lastTaken += 1;
          inFlight.add(lastTaken);
          return lastTaken;
        }
        if (waitMs > patienceMs) throw await spent(call, rule, facts);
        patienceMs -= waitMs;
        await delay(waitMs, call.signal);
      }
    },
    /**
     * What the response says of the budget replaces our count, and our limit where the settings leave it at the default
     * and the service reports more. Requests in flight are subtracted, because the service may not have counted them yet.
     * A report older than the last one is ignored.
     */
    async ended(taken: number, remaining?: number, limit?: number): Promise<void> {
      inFlight.delete(taken);
      if (remaining === undefined || taken < lastReportAt) return;
      lastReportAt = taken;
      // Less than what remains would be the limit of something else.
      if (limit !== undefined && limit > 0 && limit >= remaining) rules = rulesFor(requests, limit);
      lastRemaining = Math.max(0, remaining - inFlight.size);
      await window.correct(key, rules.interactive, lastRemaining, Date.now());
    },
    /** The service asked for a pause. It is limited to the window, after which all requests have expired. */
    block: (seconds: number): Promise<void> =>
      window.block(key, Date.now() + Math.min(seconds * 1000, windowMs)),
    /** The remaining requests, and the wait if there are none. */
    peek: (): Promise<RateDecision> => window.peek(key, rules.interactive, Date.now()),
  };
}

/** Whether too little of a walk that has just begun can be read now. */
function isTooLittle(cost: WalkCost, available: number, most: number): boolean {
  if (cost.left !== cost.pages - 1) return false;
  if (cost.needsAll) return available < cost.left;
  return cost.left <= most && available < cost.left * worthwhileShare;
}

/** What applies to requests of each purpose. `allowed`: requests in the window, as far as the settings permit. */
function rulesFor(requests: number, reported: number) {
  const isDefault = requests === defaultLimit;
  const smaller = Math.min(requests, reported);
  const allowed = isDefault ? reported : smaller;
  const limit = isDefault ? Math.max(requests, reported) : requests;
  const single: WindowRule = { limit, windowMs, reserve: 0 };
  return {
    allowed,
    interactive: single,
    // Of the smaller one: a tenth of 500 would be nearly all of a service's 60.
    walk: { ...single, reserve: reservedOf(smaller) },
  };
}
