import { setTimeout as pause } from 'node:timers/promises';
import { type CallOptions, connect, type McpClient } from './clients.ts';
import {
  answerOf,
  type Calls,
  callsBy,
  type HttpServer,
  type OpenOptions,
  type ServerSettings,
  startServer,
} from './hosts.ts';
import type { Address } from './sandbox.ts';
import { closing, newFolder } from './shared.ts';
import { until } from './until.ts';

/** One of several servers of the same tenant with one Redis, at a fixed address. */
export interface Replica extends HttpServer {
  /** Kills it without a chance to finish anything. */
  kill(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
}

export async function startReplicas(
  count: number,
  at: Address,
  { redis, env, ...settings }: ServerSettings & { redis: URL },
): Promise<Replica[]> {
  const all = { at, folder: newFolder(), ...settings, env: { CPQ_REDIS_URL: redis.href, ...env } };
  return Promise.all(Array.from({ length: count }, () => startReplica(all)));
}

async function startReplica(options: OpenOptions): Promise<Replica> {
  const { running, url } = await startServer(options);
  const argv = [...(options.argv ?? []), '--port', new URL(url).port];
  const replica: Replica = {
    url,
    running,
    async kill() {
      replica.running.kill('SIGKILL');
      await replica.running.exited;
    },
    async start() {
      replica.running = (await startServer({ ...options, argv })).running;
    },
  };
  return replica;
}

/** Waits until every replica reports this status. */
export async function replicasSay(
  replicas: readonly Replica[],
  status: 'ready' | 'degraded',
): Promise<void> {
  for (const { url } of replicas) {
    const readyz = new URL('/readyz', url);
    await until(async () => (await fetch(readyz)).json(), 100_000).toMatchObject({ status });
  }
}

/** A host behind a load balancer: if the connection to one replica breaks, the next one is called. */
export interface Caller extends Calls {
  /** Number of broken connections. */
  broken: number;
}

export async function callerOf(replicas: readonly Replica[], first = 0): Promise<Caller> {
  const clients = await Promise.all(
    replicas.map(async ({ running, url }) => closing(await connect('modern', { running, url }))),
  );
  let turn = first;
  const next = () => clients[turn++ % clients.length] as McpClient;
  const caller: Caller = {
    broken: 0,
    ...callsBy(async (name, args) => {
      for (;;) {
        const result = await unlessBroken(next().callTool(name, args, slowly));
        if (result) return answerOf(result);
        caller.broken += 1;
        await pause(20);
      }
    }),
  };
  return caller;
}

const slowly: CallOptions = { timeout: 60_000 };

/** Undefined if there was no connection, or it ended before the answer. @throws any other error */
async function unlessBroken<T>(calling: Promise<T>): Promise<T | undefined> {
  try {
    return await calling;
  } catch (error) {
    if (isBroken(error)) return undefined;
    throw error;
  }
}

const broken = /fetch failed|terminated|other side closed|ECONNRE(SET|FUSED)|socket hang up/;

const isBroken = (error: unknown): boolean =>
  error instanceof Error && (broken.test(error.message) || isBroken(error.cause));
