import { readPage } from '../inbox.ts';
import type { Inbox, InboxEntry, InboxLimits } from '../port.ts';
import { bumpGenerationScript, channelName, generationKey, type RedisBus } from './bus.ts';
import { keyOf, listReply, nowScript, type RedisLink } from './link.ts';

/**
 * KEYS: index by time, index by arrival, events, counts. ARGV: milliseconds to keep, maximum events, maximum bytes.
 * Deletes expired events, a bounded number at a time.
 */
const sweepScript = `${nowScript}
local function drop(member)
  local id = string.match(member, '\\t([^\\t]*)$')
  redis.call('HINCRBY', KEYS[4], 'bytes', -redis.call('HSTRLEN', KEYS[3], id))
  redis.call('HDEL', KEYS[3], id)
  redis.call('ZREM', KEYS[1], member)
  redis.call('ZREM', KEYS[2], member)
end
local function sweep()
  local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[1], 'LIMIT', 0, 1000)
  for _, member in ipairs(old) do drop(member) end
  for _ = 1, 1000 do
    local bytes = tonumber(redis.call('HGET', KEYS[4], 'bytes') or 0)
    local tooMany = redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[2])
    if not tooMany and bytes <= tonumber(ARGV[3]) then break end
    local first = redis.call('ZRANGE', KEYS[2], 0, 0)
    if not first[1] then break end
    drop(first[1])
  end
end
`;

/**
 * KEYS: as above, optional generation. ARGV: as above, id, optional time, indexed fields, event, channel, message.
 * Publishes first, which a user of Redis may not be allowed to do: an event that was refused is not stored.
 */
const addScript = `${bumpGenerationScript}${sweepScript}
if redis.call('HEXISTS', KEYS[3], ARGV[4]) == 1 then return 0 end
if ARGV[8] ~= '' then publish(KEYS[5] or '', ARGV[8], ARGV[9]) end
local number = redis.call('HINCRBY', KEYS[4], 'number', 1)
local member = string.format('%014d', number) .. '\\t' .. ARGV[6] .. '\\t' .. ARGV[4]
redis.call('HSET', KEYS[3], ARGV[4], ARGV[7])
redis.call('ZADD', KEYS[1], ARGV[5] == '' and now or ARGV[5], member)
redis.call('ZADD', KEYS[2], now, member)
redis.call('HINCRBY', KEYS[4], 'bytes', #ARGV[7])
for at = 1, 4 do redis.call('PEXPIRE', KEYS[at], ARGV[1] + 86400000) end
sweep()
return 1
`;

/** KEYS, ARGV: as above. Returns alternating members and times, newest first, and the oldest arrival. */
const listScript = `${sweepScript}
sweep()
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
return {redis.call('ZREVRANGE', KEYS[1], 0, -1, 'WITHSCORES'), first[2] or ''}
`;

const dayMs = 86_400_000;

/**
 * An inbox that several processes share: a sorted set holds the indexed fields, a hash the events. One script
 * stores an event, invalidates the shared copy of its collection and publishes the update, so a crash cannot
 * leave it half done.
 */
export function redisInbox(
  link: RedisLink,
  bus: RedisBus,
  tenant: string,
  { days, events, megabytes }: InboxLimits,
): Inbox {
  const limits = [days * dayMs, events, megabytes * 1024 * 1024];
  const partOf = (part: string) => keyOf(tenant, 'inbox', part);
  const keys = ['times', 'arrivals', 'events', 'counts'].map(partOf);
  return {
    async add(event, update) {
      const { id, at = '', subject, event: name, record = '' } = event;
      // Tabs separate the fields of a member.
      const index = [subject, name, record].map((it) => it.replaceAll('\t', ' ')).join('\t');
      const { collection } = update ?? {};
      const generation = collection === undefined ? [] : [generationKey(tenant, collection)];
      const notification = update ? [channelName(tenant), bus.toMessage(update)] : ['', ''];
      const values = [...limits, id, at, index, JSON.stringify(event), ...notification];
      const isNew = await link.runScript(addScript, [...keys, ...generation], values);
      if (isNew !== 1) return 'known';
      if (update) bus.notifyLocal(tenant, update);
      return 'new';
    },
    async list(accepts, slice) {
      const [members, first] = listReply(await link.runScript(listScript, keys, limits));
      const page = await readPage(toEntries(listReply(members)), accepts, slice, async ({ id }) => {
        const body = await link.send(['HGET', partOf('events'), id]);
        return typeof body === 'string' ? body : undefined;
      });
      return { ...page, damaged: 0, keptSince: Number(String(first)) || undefined };
    },
  };
}

function* toEntries(members: readonly unknown[]): Generator<InboxEntry> {
  for (let at = 0; at + 1 < members.length; at += 2) {
    const [, subject = '', event = '', record, id = ''] = String(members[at]).split('\t');
    yield { id, at: Number(members[at + 1]), subject, event, record: record || undefined };
  }
}
