import { setTimeout as pause } from 'node:timers/promises';
import { createClient, ErrorReply, RESP_TYPES } from '@redis/client';
import { errorCode } from '../../values.ts';
import { StateUnavailable } from '../port.ts';
import { shortHash } from '../short-hash.ts';

export interface LinkOptions {
  url: URL;
  /** Logs that Redis became unavailable, or is available again. */
  report(event: string, facts: Record<string, unknown>): void;
}

type Argument = string | Buffer;

const connectMs = 2_000;
const firstConnectMs = 3_000;
/** A connection on which Redis does not even answer pings for this long is lost. */
const socketTimeoutMs = 2_000;
const pingMs = 700;

/** Authentication errors, which a retry cannot solve. */
const authErrors = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/;

export type RedisLink = Awaited<ReturnType<typeof openLink>>;

/**
 * A connection to Redis, for commands and messages. While Redis is unreachable, every command fails at once with
 * StateUnavailable. The client reconnects and subscribes again by itself, also where it cannot connect at first.
 * @throws Error when Redis rejects the user or password
 */
export async function openLink({ url, report }: LinkOptions) {
  const client = createRedisClient(url);
  const reconnectListeners: (() => void)[] = [];
  let lostSince: Date | undefined;
  let reported: string | undefined;
  let closed = false;

  function updateStatus(error?: Error): void {
    if (closed) return;
    if (!client.isReady) reportLoss(error);
    else if (lostSince) {
      lostSince = undefined;
      report('shared state back', { redis: url.host });
      for (const listener of reconnectListeners) listener();
    }
  }
  function reportLoss(error?: Error): void {
    const code = error instanceof ErrorReply ? replyCode(error) : errorCode(error);
    // A refusal, such as of a password that was changed, needs somebody to act; other failures are of many kinds.
    if (lostSince && !(error instanceof ErrorReply && code !== reported)) return;
    lostSince ??= new Date();
    reported = code;
    report('shared state lost', { redis: url.host, ...(code === undefined ? {} : { code }) });
  }
  client.on('ready', () => updateStatus());
  client.on('reconnecting', () => updateStatus());
  client.on('error', (error: Error) => updateStatus(error));

  async function close(): Promise<void> {
    closed = true;
    if (client.isOpen) client.destroy();
  }

  /** Like `send`, but returns strings as buffers. @throws StateUnavailable */
  const sendForBytes = async (args: readonly Argument[]): Promise<unknown> =>
    client.sendCommand([...args], asBytes).catch(rethrowAsUnavailable);

  const timeout = pause(firstConnectMs, undefined, { ref: false });
  const rejection = await Promise.race([connect(client), timeout]);
  if (rejection !== undefined) {
    await close();
    throw new Error(`Redis at ${url.host} rejects the connection: ${rejection}`);
  }
  updateStatus();
  return {
    close,
    sendForBytes,
    get lostSince(): Date | undefined {
      return lostSince;
    },
    /** @throws StateUnavailable */
    send: async (args: readonly Argument[]): Promise<unknown> =>
      client.sendCommand([...args]).catch(rethrowAsUnavailable),
    /**
     * Runs a script atomically. Uses EVAL, because EVALSHA may need a second attempt, which later commands would
     * overtake.
     * @throws StateUnavailable
     */
    async runScript(
      script: string,
      keys: readonly string[],
      values: readonly (Argument | number)[],
    ): Promise<unknown> {
      const args = values.map((value) => (typeof value === 'number' ? String(value) : value));
      return sendForBytes(['EVAL', script, String(keys.length), ...keys, ...args]);
    },
    /** Receives the messages of all channels whose name fits the pattern. @throws StateUnavailable */
    async listen(
      pattern: string,
      listener: (message: string, channel: string) => void,
    ): Promise<void> {
      if (!client.isReady) throw new StateUnavailable('Redis cannot be reached');
      await client.pSubscribe(pattern, listener).catch(rethrowAsUnavailable);
    },
    onReconnect: (listener: () => void) => void reconnectListeners.push(listener),
  };
}

/** @returns the reason if Redis rejects the connection */
async function connect(client: ReturnType<typeof createRedisClient>): Promise<string | undefined> {
  const failure = new Promise<string | undefined>((resolve) => {
    client.once('error', ({ message }: Error) =>
      resolve(authErrors.test(message) ? message : undefined),
    );
  });
  const connected = client.connect().then(() => undefined);
  return Promise.race([failure, connected.catch(() => failure)]);
}

const asBytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };

function createRedisClient(url: URL) {
  return createClient({
    url: url.href,
    name: 'cpq-mcp',
    disableOfflineQueue: true,
    pingInterval: pingMs,
    socket: {
      connectTimeout: connectMs,
      socketTimeout: socketTimeoutMs,
      // Retries forever, with jitter, so that processes do not reconnect at the same time.
      reconnectStrategy: (tries: number) =>
        Math.min(1_000, 50 * 2 ** Math.min(tries, 5)) * (0.5 + Math.random()),
    },
  });
}

/** Its message is not repeated, because it may quote the command. */
function rethrowAsUnavailable(error: unknown): never {
  if (!(error instanceof ErrorReply)) throw new StateUnavailable('Redis cannot be reached');
  const code = replyCode(error);
  throw new StateUnavailable(`Redis reports ${code}${remedies[code] ?? ''}`);
}

function replyCode({ message }: ErrorReply): string {
  // Older versions only quote the code in a script's error; of a missing right, newer ones do not.
  if (/^ERR (ACL failure|The user executing the script can't)/.test(message)) return 'NOPERM';
  return /(?:^|-)(?!ERR\b)([A-Z]{3,})\b/.exec(message)?.[1] ?? 'an error';
}

const remedies: Readonly<Record<string, string>> = {
  WRONGTYPE: ': give this server a database of its own',
  NOPERM: ': its user needs the rule ~cpq:* &cpq:* +@all -@dangerous +info',
};

/** A tenant's namespace: a hash, with the tenant's name in front if there are several tenants. */
const isNamespace = /^(?:[a-z0-9][a-z0-9-]{0,62}-)?[0-9a-f]{16}$/;

/**
 * A Redis key of a tenant: `cpq:{tenant}:…`. The braces keep all keys of a tenant on one node of a cluster. A name
 * that is not a namespace is hashed, so that Redis holds no address and no API key.
 */
export const keyOf = (tenant: string, ...rest: readonly string[]): string =>
  ['cpq', `{${isNamespace.test(tenant) ? tenant : shortHash(tenant)}}`, ...rest].join(':');

/** The entries of a reply that must be a list. @throws TypeError for any other reply */
export function listReply(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError('Redis gave no list where one was expected');
}

/** Lua that sets `now` to the clock of Redis, in milliseconds since the epoch. */
export const nowScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
