import { LocalBus } from '../bus.ts';
import { ifUnavailable, keptMs, type ReportEvent, type Update, type UpdateBus } from '../port.ts';
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

/** The update bus of several processes: listeners of this process are notified directly, others through Redis. */
export class RedisBus implements UpdateBus {
  readonly #link: RedisLink;
  readonly #process: string;
  /** Its tenants are the names of their channels. */
  readonly #local: LocalBus;

  constructor(link: RedisLink, process: string, report: ReportEvent) {
    this.#link = link;
    this.#process = process;
    this.#local = new LocalBus(report);
  }

  /** Listens to all tenants, now and after every reconnect: messages may have been lost meanwhile. */
  async start(): Promise<void> {
    const onMessage = (message: string, channel: string) => {
      const { from, ...update } = JSON.parse(message) as Update & { from: string };
      if (from !== this.#process) this.#local.notify(channel, update);
    };
    const listen = async () => {
      await this.#link.listen('cpq:{*}:updates', onMessage);
      this.#local.notifyAllMissed();
    };
    const tryToListen = () => listen().catch(ifUnavailable(() => {})); // The next reconnect tries again.
    this.#link.onReconnect(() => void tryToListen());
    await tryToListen();
  }

  async publish(tenant: string, update: Update): Promise<void> {
    this.notifyLocal(tenant, update);
    const { collection } = update;
    const keys = collection === undefined ? [] : [generationKey(tenant, collection)];
    const values = [channelName(tenant), this.toMessage(update)];
    await this.#link.runScript(publishScript, keys, values);
  }

  subscribe(tenant: string, listener: (update: Update | 'missed') => void): () => void {
    return this.#local.subscribe(channelName(tenant), listener);
  }

  notifyLocal(tenant: string, update: Update): void {
    this.#local.notify(channelName(tenant), update);
  }

  toMessage(update: Update): string {
    return JSON.stringify({ ...update, from: this.#process });
  }
}
