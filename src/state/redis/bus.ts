import { localBus } from '../bus.ts';
import { keptMs, type ReportEvent, type Update } from '../port.ts';
import { keyOf, type RedisLink } from './link.ts';

/** The counter of generations expires long after any copy. */
export const generationMs = 2 * keptMs;

/** A shared copy of a collection belongs to a generation; a change increments the generation. */
export const bumpGenerationScript = `
local function publish(generation, channel, message)
  if generation ~= '' then
    redis.call('INCR', generation)
    redis.call('PEXPIRE', generation, ${generationMs})
  end
  redis.call('PUBLISH', channel, message)
end
`;

/** KEYS: optional generation. ARGV: channel, message. */
const publishScript = `${bumpGenerationScript}
publish(KEYS[1] or '', ARGV[1], ARGV[2])
return 1
`;

export const generationKey = (tenant: string, collection: string): string =>
  keyOf(tenant, 'generation', collection);
export const channelName = (tenant: string): string => keyOf(tenant, 'updates');

export type RedisBus = ReturnType<typeof redisBus>;

/** The update bus of several processes: listeners of this process are notified directly, others through Redis. */
export function redisBus(link: RedisLink, process: string, report: ReportEvent) {
  /** Its tenants are the names of their channels. */
  const local = localBus(report);
  const toMessage = (update: Update): string => JSON.stringify({ ...update, from: process });
  const notifyLocal = (tenant: string, update: Update): void =>
    local.notify(channelName(tenant), update);
  /** Until it listens again: without these, others would use an older copy of a collection. */
  const unpublished = new Map<string, readonly [tenant: string, update: Update]>();
  const send = async (tenant: string, update: Update): Promise<void> => {
    const { collection } = update;
    const keys = collection === undefined ? [] : [generationKey(tenant, collection)];
    await link.runScript(publishScript, keys, [channelName(tenant), toMessage(update)]);
  };
  const sendUnpublished = async (): Promise<void> => {
    for (const [key, [tenant, update]] of unpublished) {
      await send(tenant, update);
      unpublished.delete(key);
    }
  };
  const onMessage = (message: string, channel: string): void => {
    const { from, ...update } = JSON.parse(message) as Update & { from: string };
    if (from !== process) local.notify(channel, update);
  };
  return {
    toMessage,
    notifyLocal,
    /**
     * Listens to all tenants, and publishes what could not be sent. Messages may have been lost before.
     * @throws StateUnavailable
     */
    async listen(): Promise<void> {
      // A rule of Redis for a user must have the same pattern, character by character.
      await link.listen('cpq:*', onMessage);
      await sendUnpublished().finally(() => local.notifyAllMissed());
    },
    async publish(tenant: string, update: Update): Promise<void> {
      notifyLocal(tenant, update);
      await send(tenant, update).catch((error: unknown) => {
        // Of persons' answers there may be any number.
        if (!update.answer) unpublished.set(JSON.stringify([tenant, update]), [tenant, update]);
        throw error;
      });
    },
    subscribe: (tenant: string, listener: (update: Update | 'missed') => void): (() => void) =>
      local.subscribe(channelName(tenant), listener),
  };
}
