import type { Writable } from 'node:stream';
import { withoutSecrets } from './text/secrets.ts';

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
type LogLevel = (typeof logLevels)[number];

/** One JSON object a line, to stderr: stdout belongs to the protocol. Never customer text, never a key. */
export type Log = Readonly<
  Record<'info' | 'warn' | 'error', (event: string, facts?: Record<string, unknown>) => void>
>;

/** Creates a log without secrets, which messages of the network layer may contain. The fields of `context()` are added to every line. */
export function createLog(
  level: LogLevel,
  context: () => object | undefined = () => undefined,
  stderr: Writable = process.stderr,
): Log {
  const write = (at: LogLevel) => (event: string, facts?: Record<string, unknown>) => {
    if (logLevels.indexOf(at) < logLevels.indexOf(level)) return;
    const time = new Date().toISOString();
    const line = { time, level: at, event, ...context(), ...facts };
    stderr.write(`${JSON.stringify(withoutSecrets(line))}\n`);
  };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

/** Log fields of an error: name, message and the top of its stack. */
export const factsOf = (error: unknown): Record<string, unknown> =>
  error instanceof Error
    ? { error: error.name, message: error.message, at: error.stack?.split('\n')[1]?.trim() }
    : { error: String(error) };
