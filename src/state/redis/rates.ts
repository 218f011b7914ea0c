import { countedMs, MemoryRates } from '../memory-rates.ts';
import { ifUnavailable, type RateDecision, type RateWindow, type WindowRule } from '../port.ts';
import { keyOf, listReply, nowScript, type RedisLink } from './link.ts';
import { newToken } from './lock.ts';

/** KEYS: times, facts. ARGV: limit, milliseconds counted, reserve, member; an empty member counts nothing. */
const takeScript = `${nowScript}
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

/** KEYS: times, facts. ARGV: limit, milliseconds counted, remaining. No block lasts longer than requests are counted. */
const correctScript = `${nowScript}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
local others = math.max(0, ARGV[1] - redis.call('ZCARD', KEYS[1]) - ARGV[3])
redis.call('HSET', KEYS[2], 'others', others, 'othersAt', now)
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
`;

/** KEYS: facts. ARGV: milliseconds. */
const blockScript = `${nowScript}
local untilThen = now + ARGV[1]
local known = tonumber(redis.call('HGET', KEYS[1], 'blockedUntil') or 0)
if untilThen > known then redis.call('HSET', KEYS[1], 'blockedUntil', untilThen) end
redis.call('PEXPIRE', KEYS[1], math.max(tonumber(ARGV[1]), redis.call('PTTL', KEYS[1])))
return 1
`;

/** What each process may use of a limit while Redis is unavailable. Of how many share it, nobody tells. */
const shareOf = (requests: number): number => Math.floor(requests / 4);

/**
 * Rolling windows that several processes share, by the clock of Redis. While Redis is unavailable, every process uses
 * its share of what remained; what it sends meanwhile is known from the service's own count.
 */
export function redisRates(link: RedisLink): RateWindow {
  const local = new MemoryRates();
  const localShare = ({ limit, windowMs, reserve }: WindowRule): WindowRule => ({
    limit: shareOf(limit),
    windowMs,
    reserve: shareOf(reserve),
  });
  /** Updates the local window to this process's share of the remaining requests, in case Redis becomes unavailable. */
  const keepShare = (key: string, rule: WindowRule, remaining: number, now: number) =>
    void local.correct(key, localShare(rule), shareOf(remaining), now);
  /** @param member counted if the rule allows it, unless it is empty */
  async function ask(
    key: string,
    rule: WindowRule,
    now: number,
    member: string,
  ): Promise<RateDecision> {
    const values = [rule.limit, countedMs(rule), rule.reserve, member];
    const reply = await link.runScript(takeScript, rateKeys(key), values);
    const [taken, remaining = 0, waitMs = 0] = listReply(reply).map(Number);
    keepShare(key, rule, remaining, now);
    return { taken: taken === 1, remaining, waitMs };
  }
  return {
    take: (key, rule, now) =>
      ask(key, rule, now, newToken()).catch(
        ifUnavailable(() => local.take(key, localShare(rule), now)),
      ),
    peek: (key, rule, now) =>
      ask(key, rule, now, '').catch(ifUnavailable(() => local.peek(key, localShare(rule), now))),
    async correct(key, rule, remaining, now) {
      keepShare(key, rule, remaining, now);
      const values = [rule.limit, countedMs(rule), remaining];
      await link.runScript(correctScript, rateKeys(key), values).catch(ignoreUnavailable);
    },
    async block(key, until) {
      await local.block(key, until);
      const ms = Math.max(0, until - Date.now());
      await link.runScript(blockScript, [keyOf(key, 'rate')], [ms]).catch(ignoreUnavailable);
    },
  };
}

const rateKeys = (key: string): string[] => [keyOf(key, 'rate', 'times'), keyOf(key, 'rate')];

const ignoreUnavailable = ifUnavailable<unknown>(() => undefined);
