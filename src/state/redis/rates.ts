import { shiftWhile } from '../../containers.ts';
import { MemoryRates } from '../memory-rates.ts';
import {
  countedMs,
  ifUnavailable,
  type RateDecision,
  type RateWindow,
  type WindowRule,
} from '../port.ts';
import { keyOf } from './keys.ts';
import type { RedisLink } from './link.ts';
import { listReply } from './replies.ts';

/** KEYS: times, facts. ARGV: limit, milliseconds counted, reserve, member; an empty member counts nothing. */
const takeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, counted, reserve = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - counted)
local own = redis.call('ZCARD', KEYS[1])
local facts = redis.call('HMGET', KEYS[2], 'others', 'othersAt', 'blockedUntil')
local others, othersAt = tonumber(facts[1] or 0), tonumber(facts[2] or 0)
local blocked = tonumber(facts[3] or 0)
if othersAt <= now - counted then others = 0 end
local remaining = math.max(0, limit - own - others)
if blocked > now then return {0, remaining, blocked - now} end
if remaining > reserve then
  if ARGV[4] == '' then return {1, remaining, 0} end
  redis.call('ZADD', KEYS[1], now, ARGV[4])
  redis.call('PEXPIRE', KEYS[1], counted)
  return {1, remaining - 1, 0}
end
local freedAt = others > 0 and othersAt or now
local position = own + others - (limit - reserve)
local one = redis.call('ZRANGE', KEYS[1], position, position, 'WITHSCORES')
if one[2] then freedAt = tonumber(one[2]) end
return {0, remaining, math.max(1, freedAt + counted - now)}
`;

/** KEYS: times, facts. ARGV: limit, milliseconds counted, remaining. */
const correctScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
local others = math.max(0, ARGV[1] - redis.call('ZCARD', KEYS[1]) - ARGV[3])
redis.call('HSET', KEYS[2], 'others', others, 'othersAt', now)
redis.call('PEXPIRE', KEYS[2], math.max(tonumber(ARGV[2]), redis.call('PTTL', KEYS[2])))
return 1
`;

/** KEYS: facts. ARGV: milliseconds. */
const blockScript = `
local time = redis.call('TIME')
local untilThen = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
local known = tonumber(redis.call('HGET', KEYS[1], 'blockedUntil') or 0)
if untilThen > known then redis.call('HSET', KEYS[1], 'blockedUntil', untilThen) end
redis.call('PEXPIRE', KEYS[1], math.max(tonumber(ARGV[1]), redis.call('PTTL', KEYS[1])))
return 1
`;

/** KEYS: times. ARGV: milliseconds counted, then alternating members and ages. */
const replayScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for at = 2, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], 'NX', now - ARGV[at + 1], ARGV[at])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`;

/** A request of this process, with a unique member name. */
interface CountedRequest {
  member: string;
  at: number;
  /** Redis has counted it. */
  reported: boolean;
}

export interface RateSharing {
  process: string;
  /** This process's share of the limit while Redis is unavailable, 0–1. */
  share: number;
  /** After Redis is available again, the time in which every process reports its requests. */
  settleMs?: number;
}

const defaultSettleMs = 3_000;
const batchSize = 500;

/**
 * Rolling windows that several processes share, by the clock of Redis. Every process also remembers its own
 * requests: while Redis is unavailable it uses its share of the limit, and afterwards it reports them, because
 * Redis may have lost its count.
 */
export class RedisRates implements RateWindow {
  readonly #link: RedisLink;
  readonly #sharing: RateSharing;
  readonly #local = new MemoryRates();
  readonly #requests = new Map<string, { rule: WindowRule; all: CountedRequest[] }>();
  #number = 0;
  #settlingUntil = 0;

  constructor(link: RedisLink, sharing: RateSharing) {
    this.#link = link;
    this.#sharing = sharing;
    link.onReconnect(() => this.#startSettling());
  }

  async take(key: string, rule: WindowRule, now: number): Promise<RateDecision> {
    const settlingMs = this.#settlingUntil - now;
    if (settlingMs > 0) {
      const own = this.#local.evaluate(key, this.#localShare(rule), now);
      if (!own.taken) return { ...own, waitMs: Math.min(own.waitMs, settlingMs) };
    }
    const takeLocal = () => this.#takeLocal(key, rule, now);
    return this.#takeShared(key, rule, now).catch(ifUnavailable(takeLocal));
  }

  async peek(key: string, rule: WindowRule, now: number): Promise<RateDecision> {
    const evaluateLocal = () => this.#local.evaluate(key, this.#localShare(rule), now);
    const reply = this.#link.runScript(takeScript, rateKeys(key), scriptArguments(rule, ''));
    return reply.then(toDecision).catch(ifUnavailable(evaluateLocal));
  }

  async correct(key: string, rule: WindowRule, remaining: number, now: number): Promise<void> {
    this.#updateLocalShare(key, rule, remaining, now);
    const values = [rule.limit, countedMs(rule), remaining];
    await this.#ignoreUnavailable(() => this.#link.runScript(correctScript, rateKeys(key), values));
  }

  async block(key: string, until: number): Promise<void> {
    await this.#local.block(key, until);
    const ms = Math.max(0, until - Date.now());
    await this.#ignoreUnavailable(() =>
      this.#link.runScript(blockScript, [keyOf(key, 'rate')], [ms]),
    );
  }

  async #takeShared(key: string, rule: WindowRule, now: number): Promise<RateDecision> {
    await this.#replayUnreported(key, now);
    const member = this.#nextMember();
    const values = scriptArguments(rule, member);
    const decision = toDecision(await this.#link.runScript(takeScript, rateKeys(key), values));
    if (decision.taken) this.#record(key, rule, { member, at: now, reported: true });
    this.#updateLocalShare(key, rule, decision.remaining, now);
    return decision;
  }

  #takeLocal(key: string, rule: WindowRule, now: number): RateDecision {
    const decision = this.#local.evaluate(key, this.#localShare(rule), now);
    if (!decision.taken) return decision;
    this.#record(key, rule, { member: this.#nextMember(), at: now, reported: false });
    return { ...decision, remaining: decision.remaining - 1 };
  }

  #record(key: string, rule: WindowRule, request: CountedRequest): void {
    this.#local.count(key, rule, request.at);
    if (!this.#requests.has(key)) this.#forgetUncounted(request.at);
    const all: CountedRequest[] = this.#requests.get(key)?.all ?? [];
    const start = request.at - countedMs(rule);
    shiftWhile(all, ({ at }) => at <= start);
    all.push(request);
    this.#requests.set(key, { rule, all });
  }

  /** Deletes the keys whose requests no longer count. */
  #forgetUncounted(now: number): void {
    for (const [key, { rule, all }] of this.#requests) {
      const last = all.at(-1)?.at ?? 0;
      if (last <= now - countedMs(rule)) this.#requests.delete(key);
    }
  }

  /** Updates the local window to this process's share of the remaining requests, in case Redis becomes unavailable. */
  #updateLocalShare(key: string, rule: WindowRule, remaining: number, now: number): void {
    const share = this.#localShare(rule);
    void this.#local.correct(key, share, Math.floor(remaining * this.#sharing.share), now);
  }

  /** Reports requests that Redis has not counted, or may have lost. */
  async #replayUnreported(key: string, now: number): Promise<void> {
    const counted = this.#requests.get(key);
    if (!counted) return;
    const { rule, all } = counted;
    const start = now - countedMs(rule);
    const unreported = all.filter(({ reported, at }) => !reported && at > start);
    for (let at = 0; at < unreported.length; at += batchSize) {
      const batch = unreported.slice(at, at + batchSize);
      const members = batch.flatMap((one) => [one.member, now - one.at]);
      await this.#link.runScript(replayScript, [timesKey(key)], [countedMs(rule), ...members]);
      for (const one of batch) one.reported = true;
    }
  }

  /** Redis may have lost its data: every process reports its requests again. */
  #startSettling(): void {
    this.#settlingUntil = Date.now() + (this.#sharing.settleMs ?? defaultSettleMs);
    for (const [key, { all }] of this.#requests) {
      for (const one of all) one.reported = false;
      void this.#ignoreUnavailable(() => this.#replayUnreported(key, Date.now()));
    }
  }

  async #ignoreUnavailable(work: () => Promise<unknown>): Promise<void> {
    await work().catch(ifUnavailable(() => undefined));
  }

  #localShare({ limit, windowMs, reserve }: WindowRule): WindowRule {
    const { share } = this.#sharing;
    return { limit: Math.floor(limit * share), windowMs, reserve: Math.floor(reserve * share) };
  }

  #nextMember(): string {
    this.#number += 1;
    return `${this.#sharing.process}:${this.#number}`;
  }
}

const timesKey = (key: string): string => keyOf(key, 'rate', 'times');
const rateKeys = (key: string): string[] => [timesKey(key), keyOf(key, 'rate')];

const scriptArguments = (rule: WindowRule, member: string): (string | number)[] => [
  rule.limit,
  countedMs(rule),
  rule.reserve,
  member,
];

function toDecision(reply: unknown): RateDecision {
  const [taken, remaining = 0, waitMs = 0] = listReply(reply).map(Number);
  return { taken: taken === 1, remaining, waitMs };
}
