import { inject } from 'vitest';
import { environmentFor, everything, startServer } from './hosts.ts';
import { addressIn, startSandbox } from './sandbox.ts';
import { newFolder, shared } from './shared.ts';

/** What a client needs to start or reach a server. */
export type Reached =
  | { url: string }
  | { command: string; args: string[]; env: Record<string, string> };

const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const address = async () => addressIn(await sandbox());

const home = shared(async () => newFolder());

const overStdio = shared(async () => {
  const given = { ...environmentFor(await address(), everything), HOME: await home() };
  const env = Object.entries(given).filter(([, value]) => value !== undefined);
  return {
    command: process.execPath,
    args: [inject('bundle'), 'stdio'],
    env: Object.fromEntries(env) as Record<string, string>,
  };
});

const overHttp = shared(async () => {
  const { url } = await startServer({ at: address, ...everything });
  return { url };
});

/** A server with all tools, over each transport. */
export const everyWay: readonly (readonly [string, () => Promise<Reached>])[] = [
  ['stdio', overStdio],
  ['HTTP', overHttp],
];

/** The servers' key, which no client may see. */
export const theKey = async (): Promise<string> => (await address()).key;
