import { MemoryRates } from './memory-rates.ts';
import {
  countedMs,
  ifUnavailable,
  type RateWindow,
  type WindowRule,
  type WindowVerdict,
} from './port.ts';
import { keyOf } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

/** KEYS: times, facts. ARGV: limit, milliseconds counted, reserve, member, or nothing to only look. */
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
local left = math.max(0, limit - own - others)
if blocked > now then return {0, left, blocked - now} end
if left > reserve then
  if ARGV[4] == '' then return {1, left, 0} end
  redis.call('ZADD', KEYS[1], now, ARGV[4])
  redis.call('PEXPIRE', KEYS[1], counted)
  return {1, left - 1, 0}
end
local leaves = others > 0 and othersAt or now
local nth = own + others - (limit - reserve)
local one = redis.call('ZRANGE', KEYS[1], nth, nth, 'WITHSCORES')
if one[2] then leaves = tonumber(one[2]) end
return {0, left, math.max(1, leaves + counted - now)}
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

/** KEYS: times. ARGV: milliseconds counted, then a member and its age by turns. */
const recallScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for at = 2, #ARGV, 2 do
  redis.call('ZADD', KEYS[1], 'NX', now - ARGV[at + 1], ARGV[at])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`;

/** A request of this process, under a name that no other request has. */
interface Taken {
  member: string;
  at: number;
  /** Redis has been told of it. */
  told: boolean;
}

export interface RateSharing {
  /** Tells this process from the others. */
  process: string;
  /** Of the limit, for this process alone, while Redis is away. */
  share: number;
  /** After Redis is back, the time in which every process tells what it sent meanwhile. */
  settleMs?: number;
}

const usualSettleMs = 3_000;
const membersAtOnce = 500;

/**
 * Rolling windows that many processes share, by the clock of Redis. Every process remembers what it sent
 * itself: while Redis is away it keeps to its share, and tells Redis afterwards, which may have lost its
 * count.
 */
export class RedisRates implements RateWindow {
  readonly #link: RedisLink;
  readonly #sharing: RateSharing;
  readonly #local = new MemoryRates();
  readonly #taken = new Map<string, { rule: WindowRule; all: Taken[] }>();
  #number = 0;
  #settlesAt = 0;

  constructor(link: RedisLink, sharing: RateSharing) {
    this.#link = link;
    this.#sharing = sharing;
    link.onBack(() => this.#settle());
  }

  async take(key: string, rule: WindowRule, now: number): Promise<WindowVerdict> {
    const settlingMs = this.#settlesAt - now;
    if (settlingMs > 0) {
      const own = this.#local.judge(key, this.#shareOf(rule), now);
      if (!own.taken) return { ...own, waitMs: Math.min(own.waitMs, settlingMs) };
    }
    const own = () => this.#takeOwn(key, rule, now);
    return this.#takeShared(key, rule, now).catch(ifUnavailable(own));
  }

  async peek(key: string, rule: WindowRule, now: number): Promise<WindowVerdict> {
    const own = () => this.#local.judge(key, this.#shareOf(rule), now);
    const asked = this.#link.run(takeScript, keysOf(key), argumentsOf(rule, ''));
    return asked.then(verdictOf).catch(ifUnavailable(own));
  }

  async correct(key: string, rule: WindowRule, remaining: number, now: number): Promise<void> {
    this.#remember(key, rule, remaining, now);
    const values = [rule.limit, countedMs(rule), remaining];
    await this.#tell(() => this.#link.run(correctScript, keysOf(key), values));
  }

  async block(key: string, until: number): Promise<void> {
    await this.#local.block(key, until);
    const ms = Math.max(0, until - Date.now());
    await this.#tell(() => this.#link.run(blockScript, [keyOf(key, 'rate')], [ms]));
  }

  async #takeShared(key: string, rule: WindowRule, now: number): Promise<WindowVerdict> {
    await this.#recall(key, now);
    const member = this.#nextMember();
    const values = argumentsOf(rule, member);
    const verdict = verdictOf(await this.#link.run(takeScript, keysOf(key), values));
    if (verdict.taken) this.#note(key, rule, { member, at: now, told: true });
    this.#remember(key, rule, verdict.left, now);
    return verdict;
  }

  #takeOwn(key: string, rule: WindowRule, now: number): WindowVerdict {
    const verdict = this.#local.judge(key, this.#shareOf(rule), now);
    if (!verdict.taken) return verdict;
    this.#note(key, rule, { member: this.#nextMember(), at: now, told: false });
    return { ...verdict, left: verdict.left - 1 };
  }

  #note(key: string, rule: WindowRule, taken: Taken): void {
    this.#local.count(key, rule, taken.at);
    const all: Taken[] = this.#taken.get(key)?.all ?? [];
    const start = taken.at - countedMs(rule);
    const gone = all.findIndex(({ at }) => at > start);
    all.splice(0, gone === -1 ? all.length : gone);
    all.push(taken);
    this.#taken.set(key, { rule, all });
  }

  /** Of what is left for all, this process would have its share if Redis were lost now. */
  #remember(key: string, rule: WindowRule, left: number, now: number): void {
    const share = this.#shareOf(rule);
    void this.#local.correct(key, share, Math.floor(left * this.#sharing.share), now);
  }

  /** Tells Redis what it has not been told, or has forgotten. */
  async #recall(key: string, now: number): Promise<void> {
    const taken = this.#taken.get(key);
    if (!taken) return;
    const { rule, all } = taken;
    const start = now - countedMs(rule);
    const untold = all.filter(({ told, at }) => !told && at > start);
    for (let at = 0; at < untold.length; at += membersAtOnce) {
      const some = untold.slice(at, at + membersAtOnce);
      const members = some.flatMap((one) => [one.member, now - one.at]);
      await this.#link.run(recallScript, [timesOf(key)], [countedMs(rule), ...members]);
      for (const one of some) one.told = true;
    }
  }

  /** Redis may have come back without what it knew. */
  #settle(): void {
    this.#settlesAt = Date.now() + (this.#sharing.settleMs ?? usualSettleMs);
    for (const [key, { all }] of this.#taken) {
      for (const one of all) one.told = false;
      void this.#tell(() => this.#recall(key, Date.now()));
    }
  }

  async #tell(work: () => Promise<unknown>): Promise<void> {
    await work().catch(ifUnavailable(() => undefined));
  }

  #shareOf({ limit, windowMs, reserve }: WindowRule): WindowRule {
    const { share } = this.#sharing;
    return { limit: Math.floor(limit * share), windowMs, reserve: Math.floor(reserve * share) };
  }

  #nextMember(): string {
    this.#number += 1;
    return `${this.#sharing.process}:${this.#number}`;
  }
}

const timesOf = (key: string): string => keyOf(key, 'rate', 'times');
const keysOf = (key: string): string[] => [timesOf(key), keyOf(key, 'rate')];

const argumentsOf = (rule: WindowRule, member: string): (string | number)[] => [
  rule.limit,
  countedMs(rule),
  rule.reserve,
  member,
];

function verdictOf(answer: unknown): WindowVerdict {
  const [taken, left, waitMs] = answer as [number, number, number];
  return { taken: taken === 1, left, waitMs };
}
