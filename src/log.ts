import type { LogLevel } from './config.ts';

/** One JSON object a line, to stderr: stdout belongs to the protocol. Never customer text, never a key. */
export interface Log {
  debug(event: string, facts?: Record<string, unknown>): void;
  info(event: string, facts?: Record<string, unknown>): void;
  warn(event: string, facts?: Record<string, unknown>): void;
  error(event: string, facts?: Record<string, unknown>): void;
}

const order: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/**
 * `secrets` are taken out of every line, whatever an error of the network layer put into its message;
 * `context` is what every line says as well, of the moment in which it is written.
 */
export function createLog(
  level: LogLevel,
  secrets: Iterable<string>,
  context: () => object | undefined = () => undefined,
): Log {
  const write = (at: LogLevel) => (event: string, facts?: Record<string, unknown>) => {
    if (order.indexOf(at) < order.indexOf(level)) return;
    const time = new Date().toISOString();
    const line = JSON.stringify({ time, level: at, event, ...context(), ...facts });
    process.stderr.write(`${withoutSecrets(line, secrets)}\n`);
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function withoutSecrets(line: string, secrets: Iterable<string>): string {
  let text = line;
  for (const secret of secrets) if (secret !== '') text = text.split(secret).join('[key]');
  return text;
}

/** What of an error helps whoever reads the log. */
export const factsOf = (error: unknown): Record<string, unknown> =>
  error instanceof Error
    ? { error: error.name, message: error.message, at: error.stack?.split('\n')[1]?.trim() }
    : { error: String(error) };
