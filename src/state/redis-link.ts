import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { StateUnavailable } from './port.ts';

export interface LinkOptions {
  url: URL;
  /** Tells whoever runs this that Redis was lost, or is back. */
  tell(event: string, facts: Record<string, unknown>): void;
  /** How long one command may take before Redis counts as lost. */
  commandMs?: number;
}

/** Redis is of no use now. */
export interface Lost {
  since: Date;
  why: string;
}

type Argument = string | Buffer;

interface Ear {
  channel: string;
  listener: (message: string) => void;
  missed: () => void;
  hears: boolean;
}

const usualCommandMs = 2_000;
const firstConnectMs = 3_000;
const probeMs = 500;
/** Traffic that shows a dead connection even where nobody asks for anything. */
const pingMs = 5_000;
const silentMs = 15_000;

/** Wrong passwords and the like: waiting does not help. */
const refusals = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;

/**
 * The connection to Redis: one for commands, in the order in which they are sent, and one that listens.
 * While Redis is away every command fails at once, with StateUnavailable; the connection comes back by itself.
 */
export class RedisLink {
  readonly #commands: ReturnType<typeof clientOf>;
  readonly #listening: ReturnType<typeof clientOf>;
  readonly #options: LinkOptions;
  readonly #backListeners = new Set<() => void>();
  readonly #ears = new Set<Ear>();
  #probe: NodeJS.Timeout | undefined;
  /** Why it is of no use although it is connected. */
  #unfit: StateUnavailable | undefined;
  #lost: Lost | undefined;
  #closed = false;

  private constructor(options: LinkOptions) {
    this.#options = options;
    this.#commands = clientOf(options.url);
    this.#listening = clientOf(options.url);
    this.#commands.on('ready', () => this.#judge());
    this.#commands.on('reconnecting', () => this.#judge());
    this.#commands.on('error', (error: Error) => this.#judge(error));
    this.#listening.on('error', () => {}); // It comes back by itself, and is heard of then.
  }

  /**
   * Connects. Where Redis cannot be reached it goes on trying in the background, and everything fails
   * with StateUnavailable meanwhile.
   * @throws Error when Redis refuses this user or password
   */
  static async open(options: LinkOptions): Promise<RedisLink> {
    const link = new RedisLink(options);
    const refused = await Promise.race([link.#connect(), pauseOf(firstConnectMs)]);
    if (refused !== undefined) {
      await link.close();
      throw new Error(`Redis at ${options.url.host} refuses: ${refused}`);
    }
    link.#judge();
    return link;
  }

  get isUp(): boolean {
    return !this.#unfit && this.#commands.isReady;
  }

  get lost(): Lost | undefined {
    return this.#lost;
  }

  /** @throws StateUnavailable; an Error of Redis's own for a command that it does not take */
  async send(words: readonly Argument[]): Promise<unknown> {
    return this.#within(() => this.#commands.sendCommand([...words]));
  }

  /** The same, with texts as they are stored. @throws StateUnavailable */
  async sendForBytes(words: readonly Argument[]): Promise<unknown> {
    return this.#within(() => this.#commands.sendCommand([...words], asBytes));
  }

  /**
   * Runs a script as one step. Sent whole: by its digest it might have to be sent twice, and what was
   * sent after it would come first.
   * @throws StateUnavailable
   */
  async run(
    script: string,
    keys: readonly string[],
    values: readonly (Argument | number)[],
  ): Promise<unknown> {
    return this.sendForBytes(['EVAL', script, String(keys.length), ...keys, ...values.map(plain)]);
  }

  /**
   * Hears a channel until the result is called, across lost connections. `missed` is called whenever
   * messages may have passed unheard.
   */
  listen(channel: string, listener: (message: string) => void, missed: () => void): () => void {
    const ear: Ear = { channel, listener, missed, hears: false };
    this.#ears.add(ear);
    void this.#attach(ear);
    return () => {
      this.#ears.delete(ear);
      void this.#listening.unsubscribe(channel, listener).catch(() => {}); // Gone with the connection.
    };
  }

  /** Calls it whenever Redis can be reached again. */
  onBack(listener: () => void): void {
    this.#backListeners.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#probe);
    for (const client of [this.#commands, this.#listening]) if (client.isOpen) client.destroy();
  }

  /** @returns why it is refused, if it is */
  async #connect(): Promise<string | undefined> {
    this.#listening.on('ready', () => {
      for (const ear of this.#ears) {
        // What heard before hears again by itself, but something may have passed meanwhile.
        if (ear.hears) ear.missed();
        else void this.#attach(ear);
      }
    });
    const failure = new Promise<string | undefined>((resolve) => {
      this.#commands.once('error', ({ message }: Error) =>
        resolve(refusals.test(message) ? message : undefined),
      );
    });
    const both = Promise.all([this.#commands.connect(), this.#listening.connect()]);
    return Promise.race([failure, both.then(() => undefined).catch(() => failure)]);
  }

  async #attach(ear: Ear): Promise<void> {
    if (!this.#listening.isReady) return;
    try {
      await this.#listening.subscribe(ear.channel, ear.listener);
      ear.hears = true;
      ear.missed();
    } catch {
      // The connection broke: it is tried again with the next one.
    }
  }

  async #within<T>(send: () => Promise<T>): Promise<T> {
    if (!this.isUp) throw this.#unfit ?? unreachable();
    const patience = new Patience(this.#options.commandMs ?? usualCommandMs);
    try {
      return await Promise.race([send(), patience.over]);
    } catch (error) {
      throw this.#judged(error);
    } finally {
      patience.end();
    }
  }

  /** What it means for whoever asked; nobody else needs to find out for himself that Redis is of no use. */
  #judged(error: unknown): unknown {
    if (error instanceof Silent) this.#spare(error);
    if (error instanceof StateUnavailable) return error;
    if (!(error instanceof ErrorReply))
      return new StateUnavailable('Redis broke off the connection');
    const [, reason] = cannotWork.exec(error.message) ?? [];
    if (reason === undefined && isAboutCommand.test(error.message)) return error;
    const refusal = new StateUnavailable(`Redis says ${reason ?? error.message.split(' ', 1)[0]}`);
    if (reason !== undefined) this.#spare(refusal);
    return refusal;
  }

  /** Until it takes a write again, nobody asks it for anything. */
  #spare(why: StateUnavailable): void {
    if (this.#unfit || this.#closed) return;
    this.#unfit = why;
    this.#judge(why);
    const ask = async () => {
      if (this.#closed) return;
      if (await this.#takesWrites()) this.#unfit = undefined;
      else this.#probe = setTimeout(ask, probeMs).unref();
      this.#judge();
    };
    void ask();
  }

  async #takesWrites(): Promise<boolean> {
    if (!this.#commands.isReady) return false;
    const writing = this.#commands.sendCommand(['SET', 'cpq:probe', '1', 'PX', '1000']);
    const answer = await Promise.race([writing.catch(() => undefined), pauseOf(probeMs)]);
    return answer !== undefined;
  }

  #judge(error?: Error): void {
    if (this.#closed) return;
    const { url, tell } = this.#options;
    if (!this.isUp && !this.#lost) {
      this.#lost = { since: new Date(), why: (this.#unfit ?? unreachable()).code };
      const code = (error as NodeJS.ErrnoException | undefined)?.code;
      tell('shared state lost', { redis: url.host, ...(code === undefined ? {} : { code }) });
    } else if (this.isUp && this.#lost) {
      this.#lost = undefined;
      tell('shared state back', { redis: url.host });
      for (const listener of this.#backListeners) listener();
    }
  }
}

/** Redis did not answer in time. */
class Silent extends StateUnavailable {}

/** The time in which a command must be answered. */
class Patience {
  /** Rejects when it is over. */
  readonly over: Promise<never>;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(ms: number) {
    this.over = new Promise((_, reject) => {
      const giveUp = () => {
        if (!this.#ended) reject(new Silent('Redis does not answer'));
      };
      // Where this process stood still, the answer may be there already: it is read first.
      this.#timer = setTimeout(() => setImmediate(giveUp), ms);
    });
  }

  end(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }
}

const unreachable = (): StateUnavailable => new StateUnavailable('Redis cannot be reached');

const asBytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

const plain = (value: Argument | number): Argument =>
  typeof value === 'number' ? String(value) : value;

function clientOf(url: URL) {
  return createClient({
    url: url.href,
    name: 'cpq-mcp',
    disableOfflineQueue: true,
    pingInterval: pingMs,
    socket: {
      connectTimeout: usualCommandMs,
      socketTimeout: silentMs,
      // Never given up; jittered, so that many processes do not come back in step.
      reconnectStrategy: (tries: number) =>
        Math.min(1_000, 50 * 2 ** Math.min(tries, 5)) * (0.5 + Math.random()),
    },
  });
}

/** What Redis says while it cannot do its work; an older one only quotes it where a script was told. */
const cannotWork = /(?:^|-)(READONLY|OOM|LOADING|MISCONF|MASTERDOWN|NOREPLICAS|BUSY)\b/;
/** What it says of the command itself. */
const isAboutCommand = /^(ERR|WRONGTYPE)\b/;

const pauseOf = (ms: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(resolve, ms, undefined).unref());
