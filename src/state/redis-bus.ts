import { LocalBus } from './bus.ts';
import type { Update, UpdateBus } from './port.ts';
import { keyOf } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';

/**
 * What is shared of a collection belongs to a generation; a change begins the next one. A generation
 * outlives every reading by far.
 */
export const nextGeneration = `
local function tell(generation, channel, message)
  if generation ~= '' then
    redis.call('INCR', generation)
    redis.call('PEXPIRE', generation, 86400000)
  end
  redis.call('PUBLISH', channel, message)
end
`;

/** KEYS: generation, or nothing. ARGV: channel, message. */
const publishScript = `${nextGeneration}
tell(KEYS[1] or '', ARGV[1], ARGV[2])
return 1
`;

export const generationOf = (tenant: string, collection: string): string =>
  keyOf(tenant, 'generation', collection);
export const channelOf = (tenant: string): string => keyOf(tenant, 'updates');

type Listener = (update: Update | 'missed') => void;

/** The update bus of many processes: those of this one hear at once, the others through Redis. */
export class RedisBus implements UpdateBus {
  readonly #link: RedisLink;
  readonly #process: string;
  readonly #local = new LocalBus();
  readonly #open = new Map<string, { listeners: number; stop: () => void }>();
  /** What could not be told while Redis was away. */
  readonly #untold = new Map<string, { tenant: string; update: Update }>();

  constructor(link: RedisLink, process: string) {
    this.#link = link;
    this.#process = process;
    link.onBack(() => {
      // Redis may have told the others what it did not confirm here, and nobody hears himself.
      this.#local.tellAllMissed();
      this.#makeUp();
    });
  }

  async publish(tenant: string, update: Update): Promise<void> {
    this.tellHere(tenant, update);
    const { collection } = update;
    const keys = collection === undefined ? [] : [generationOf(tenant, collection)];
    const values = [channelOf(tenant), this.messageOf(update)];
    await this.#link.run(publishScript, keys, values).catch((error: unknown) => {
      if (collection !== undefined) this.#untold.set(`${tenant} ${collection}`, { tenant, update });
      throw error;
    });
  }

  subscribe(tenant: string, listener: Listener): () => void {
    const stopHere = this.#local.subscribe(tenant, listener);
    const open = this.#open.get(tenant) ?? { listeners: 0, stop: this.#listen(tenant) };
    open.listeners += 1;
    this.#open.set(tenant, open);
    return () => {
      stopHere();
      open.listeners -= 1;
      if (open.listeners > 0) return;
      open.stop();
      this.#open.delete(tenant);
    };
  }

  tellHere(tenant: string, update: Update): void {
    this.#local.tell(tenant, update);
  }

  messageOf(update: Update): string {
    return JSON.stringify({ ...update, from: this.#process });
  }

  #listen(tenant: string): () => void {
    const heard = (message: string) => {
      const { from, ...update } = JSON.parse(message) as Update & { from: string };
      if (from !== this.#process) this.#local.tell(tenant, update);
    };
    return this.#link.listen(channelOf(tenant), heard, () => this.#local.tell(tenant, 'missed'));
  }

  #makeUp(): void {
    const untold = [...this.#untold.values()];
    this.#untold.clear();
    for (const { tenant, update } of untold) this.publish(tenant, update).catch(() => {});
  }
}
