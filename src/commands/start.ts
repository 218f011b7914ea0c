import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { Settings } from '../config/settings.ts';
import { requireTenant, settingWarnings, toolSelectionOf } from '../config.ts';
import type { GeneratedHistory } from '../history/generated-history.ts';
import { createLog, type Log } from '../log.ts';
import { createSurface, type ServerDescription } from '../mcp/surface.ts';

/** What a command is given of its process. */
export interface CommandContext {
  env: NodeJS.ProcessEnv;
  home: string;
  /** Path of this program. */
  script: string;
  /** Opened by the first call. */
  stdin(): Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable;
  signals: EventEmitter;
}

export interface Address {
  baseUrl: URL;
  key: string;
  /** Of the embedded tenant. */
  generatedHistory?: GeneratedHistory;
  close?(): Promise<void>;
}

/** @throws ConfigError if neither a tenant nor the sandbox is configured */
export const resolveAddress = async (settings: Settings): Promise<Address> =>
  settings.sandbox ? embeddedSandbox() : requireTenant(settings);

async function embeddedSandbox(): Promise<Address> {
  const { startSandbox } = await import('../sandbox/index.ts');
  const sandbox = await startSandbox();
  const [{ name, baseUrl, keys }] = sandbox.tenants;
  return {
    baseUrl: new URL(baseUrl),
    key: keys.all,
    generatedHistory: sandbox.past(name),
    close: () => sandbox.close(),
  };
}

/** @param tools the only tools that the caller may use; default all */
export const describeServer = (
  settings: Settings,
  tools?: ReadonlySet<string>,
): ServerDescription => ({
  grants: settings.grants,
  surface: createSurface(settings.grants, toolSelectionOf(settings), tools),
  isMadeUp: settings.sandbox,
});

/** The log of a command, which begins with warnings about its settings. `context`: facts added to every line. */
export function openLog(
  settings: Settings,
  { env, stderr }: Pick<CommandContext, 'env' | 'stderr'> = process,
  context?: () => object | undefined,
): Log {
  const log = createLog(settings.logLevel, context, stderr);
  for (const warning of settingWarnings(env)) log.warn('settings', { warning });
  return log;
}
