import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { closing, newFolder, useMachineClock } from './shared.ts';

export interface Redis {
  url: URL;
  /** Kills it without a chance to save anything. */
  kill(): Promise<void>;
  /** Starts it again on the same port with its saved data, or empty. */
  start(options?: { empty?: boolean }): Promise<void>;
  /** Stops answering, with open connections, until `resume`. */
  freeze(): void;
  resume(): void;
  /** Sends one command over a connection of its own and gives the raw answer. */
  ask(...words: string[]): Promise<string>;
  close(): Promise<void>;
}

/**
 * Starts a Redis on a free port with its own folder; stopped after the tests of the file. It has the machine's clock,
 * and from now on the file has it too.
 */
export async function startRedis(password?: string): Promise<Redis> {
  useMachineClock();
  const folder = newFolder();
  const port = await freePort();
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  const ask = (...words: string[]) => exchange(port, password, words);
  const redis: Redis = {
    url: new URL(`redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`),
    kill,
    async start({ empty = false } = {}) {
      if (empty)
        await rm(join(folder, 'appendonlydir'), { recursive: true, force: true, maxRetries: 5 });
      child = spawn('redis-server', wordsFor(port, folder, password), { stdio: 'ignore' });
      await untilReady(ask);
    },
    freeze: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    ask,
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  await redis.start();
  return closing(redis);
}

const wordsFor = (port: number, folder: string, password: string | undefined): string[] => [
  ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''],
  ...['--appendonly', 'yes', '--appendfsync', 'always'],
  ...(password === undefined ? [] : ['--requirepass', password]),
];

async function untilReady(ask: Redis['ask']): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await ask('PING').catch(() => '');
    if (answer.startsWith('+PONG')) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('Redis did not start');
}

/** Sent without the client that is under test. */
async function exchange(
  port: number,
  password: string | undefined,
  words: readonly string[],
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const commands = [...(password === undefined ? [] : [['AUTH', password]]), words, ['QUIT']];
  const received: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => received.push(bytes));
  await once(socket, 'connect');
  const ended = once(socket, 'close');
  socket.write(commands.map(written).join(''));
  await ended;
  const answer = Buffer.concat(received).toString();
  return password === undefined ? answer : answer.slice('+OK\r\n'.length);
}

const written = (words: readonly string[]): string =>
  `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
