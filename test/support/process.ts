import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough, type Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import { defaultStateFolder } from '../../src/state/files/state-folder.ts';
import { Recording, type Stream } from './recording.ts';

export type Environment = Record<string, string | undefined>;

interface Exit {
  /** Undefined if a signal ended it. */
  status: number | undefined;
  signal: NodeJS.Signals | undefined;
}

/** A process of the built server, with everything that it writes. */
export interface Running {
  pid: number;
  stdin: Writable;
  output: Recording;
  exited: Promise<Exit>;
  kill(signal: NodeJS.Signals): void;
  /** Stops reading its output, as a crashed host does. */
  hangUp(): void;
  /** Waits for a text on stdout. @throws if the process ends, or after minutes */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Closes its stdin, then sends SIGTERM (at once to HTTP servers), then SIGKILL. */
  stop(): Promise<Exit>;
}

export interface Finished extends Exit {
  stdout: string;
  stderr: string;
}

/** Far above what a busy machine needs, and below the limit of a test. */
const timeoutMs = 240_000;
/** Time to end after stdin was closed, and after SIGTERM. */
const politeStopMs = 200;
const politeMs = 5_000;
const running = new Set<Running>();
const recordings: Recording[] = [];
let home: Promise<string> | undefined;

/** Variables that a process needs to run, its clock, and the setting of the fast path. It inherits nothing else. */
const inherited = [
  ...['PATH', 'SYSTEMROOT', 'TEMP', 'TMPDIR', 'CPQ_FAST_PATH'],
  ...['TZ', 'NODE_OPTIONS', 'TEST_CLOCK_AHEAD_MS', 'TEST_MUTANT'],
];

/** Starts `cpq-mcp` with these arguments and only this environment. */
export async function start(argv: readonly string[], env: Environment = {}): Promise<Running> {
  if (inject('buildError') !== '') throw new Error(inject('buildError'));
  const child = spawn(process.execPath, [inject('bundle'), ...argv], {
    env: { ...(await plainEnvironment(env)), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = recordingOf(argv, env);
  return listed(runningOf(child, output, readsStdin(argv) ? politeStopMs : 0));
}

function listed(it: Running): Running {
  running.add(it);
  void it.exited.then(() => running.delete(it));
  return it;
}

/** Runs `cpq-mcp` to its end with this stdin. */
export async function run(
  argv: readonly string[],
  env?: Environment,
  input?: string,
): Promise<Finished> {
  return ended(await start(argv, env), input);
}

async function ended(started: Running, input = ''): Promise<Finished> {
  started.stdin.end(input);
  const late = setTimeout(() => started.kill('SIGKILL'), timeoutMs);
  const exit = await started.exited;
  clearTimeout(late);
  return { ...exit, stdout: started.output.stdout, stderr: started.output.stderr };
}

/**
 * Like `start`, in this process and with its clock, which takes a fraction of the time: for tests that do not depend on
 * how a process ends. `test/commands/process.test.ts` compares both.
 */
export async function startHere(argv: readonly string[], env: Environment = {}): Promise<Running> {
  const commands = await builtCommands();
  const output = recordingOf(argv, env);
  const into = (stream: Stream) =>
    new Writable({
      write(bytes: Buffer, _, done) {
        output.add(stream, bytes);
        done();
      },
    });
  const [stdin, stdout, signals] = [new PassThrough(), into('stdout'), new EventEmitter()];
  const plain = await plainEnvironment(env);
  const status = commands.start(argv, {
    env: { ...plain, ...stateOf(argv, plain), ...env },
    home: env.HOME ?? (await homeFolder()),
    script: inject('bundle'),
    stdin: () => stdin,
    stdout,
    stderr: into('stderr'),
    signals,
  });
  const exited = status.then((it) => ({ status: it, signal: undefined }));
  const child = { stdin, kill: (signal: NodeJS.Signals) => signals.emit(signal) };
  return listed({
    pid: process.pid,
    stdin,
    output,
    exited,
    kill: (signal) => void child.kill(signal),
    hangUp: () => void stdout.destroy(),
    says: (pattern) => saying(output, exited, pattern),
    stop: () => stop(child, exited, readsStdin(argv) ? politeStopMs : 0),
  });
}

/** Servers would take their default folder from the environment of this process. */
const stateOf = ([command = 'stdio']: readonly string[], env: Environment): Environment =>
  ['config', 'doctor', 'token'].includes(command) ? {} : { CPQ_STATE_DIR: defaultStateFolder(env) };

/** Like `run`, in this process. */
export const runHere: typeof run = async (argv, env, input) =>
  ended(await startHere(argv, env), input);

/** The commands of the built server. */
async function builtCommands(): Promise<typeof import('../../src/commands/run.ts')> {
  if (inject('buildError') !== '') throw new Error(inject('buildError'));
  const [chunk = ''] = /chunks\/run-\w+\.js/.exec(readFileSync(inject('bundle'), 'utf8')) ?? [];
  return import(pathToFileURL(join(dirname(inject('bundle')), chunk)).href);
}

/** Ends all running processes and searches their output for keys. */
export async function endAll(): Promise<void> {
  await Promise.all([...running].map((it) => it.stop()));
  if (home) await rm(await home, { recursive: true, force: true, maxRetries: 5 });
  home = undefined;
  const leaks = recordings.splice(0).flatMap((recording) => recording.leaks());
  if (leaks.length > 0) throw new Error(`A key was written: ${leaks.join('; ')}`);
}

function recordingOf(argv: readonly string[], env: Environment): Recording {
  const output = new Recording(argv.join(' '), secretsIn(env));
  recordings.push(output);
  return output;
}

function homeFolder(): Promise<string> {
  home ??= mkdtemp(join(tmpdir(), 'cpq-mcp-test-'));
  return home;
}

async function plainEnvironment({ CPQ_REDIS_URL: redis }: Environment): Promise<Environment> {
  const folder = await homeFolder();
  const kept = inherited.map((name) => [name, process.env[name]]);
  return {
    ...Object.fromEntries(kept),
    ...{ HOME: folder, USERPROFILE: folder },
    // Processes of one test follow each other at a service whose data and faults change in between; with Redis they share.
    CPQ_KEEP_COLLECTIONS: redis === undefined ? 'off' : 'on',
  };
}

const secretNames = ['CPQ_API_KEY', 'CPQ_WEBHOOK_SECRET'];

/** Secrets long enough not to occur by chance. */
const secretsIn = (env: Environment): string[] =>
  secretNames.flatMap((name) => env[name] ?? []).filter((secret) => secret.length >= 8);

/** HTTP servers do not read stdin. */
const readsStdin = ([command]: readonly string[]): boolean =>
  command !== 'http' && command !== 'sandbox';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function runningOf(child: Child, output: Recording, termAfterMs: number): Running {
  const { pid } = child;
  if (pid === undefined) throw new Error('the process could not be started');
  const note = join(inject('pids'), String(pid));
  writeFileSync(note, '');
  child.stdout.on('data', (bytes: Buffer) => output.add('stdout', bytes));
  child.stderr.on('data', (bytes: Buffer) => output.add('stderr', bytes));
  child.stdin.on('error', () => {}); // It may have ended before it read all.
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (status, signal) => {
      rmSync(note, { force: true });
      resolve({ status: status ?? undefined, signal: signal ?? undefined });
    });
  });
  return {
    pid,
    stdin: child.stdin,
    output,
    exited,
    kill: (signal) => void child.kill(signal),
    hangUp: () => void child.stdout.destroy(),
    says: (pattern) => saying(output, exited, pattern),
    stop: () => stop(child, exited, termAfterMs),
  };
}

async function saying(
  output: Recording,
  exited: Promise<Exit>,
  pattern: RegExp,
): Promise<RegExpExecArray> {
  const told = new AbortController();
  const late = AbortSignal.timeout(timeoutMs);
  void exited.then(() => told.abort());
  const found = await output.waitFor('stdout', pattern, AbortSignal.any([told.signal, late]));
  if (found) return found;
  throw new Error(`It never said ${pattern}. stdout: ${output.stdout} stderr: ${output.stderr}`);
}

async function stop(
  child: Pick<Child, 'stdin' | 'kill'>,
  exited: Promise<Exit>,
  termAfterMs: number,
): Promise<Exit> {
  child.stdin.end();
  const ask = setTimeout(() => child.kill('SIGTERM'), termAfterMs);
  const insist = setTimeout(() => child.kill('SIGKILL'), politeMs);
  const exit = await exited;
  clearTimeout(ask);
  clearTimeout(insist);
  return exit;
}
