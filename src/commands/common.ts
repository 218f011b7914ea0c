import type { Settings } from '../config.ts';
import type { TenantObserver } from '../hosts/server-observer.ts';
import { createLog, type Log } from '../log.ts';
import { localState } from '../state/local.ts';
import type { State } from '../state/port.ts';
import { defaultStateFolder } from '../state/state-folder.ts';
import { CollectionCache } from '../tenant/cache.ts';
import { Connections } from '../transport/connections.ts';
import { Secrets } from './secrets.ts';

/** Services shared by all tenants of a process. */
export interface SharedServices {
  state: State;
  cache: CollectionCache;
  connections: Connections;
  log: Log;
  /** Removed from every log line. */
  secrets: Secrets;
  /** Creates the observer of a tenant by the operator's name of it; absent outside of `http`. */
  observer: ((name: string) => TenantObserver) | undefined;
}

/** A log, and the secrets that are removed from its lines. */
export type RedactedLog = Pick<SharedServices, 'log' | 'secrets'>;

/** `context`: facts added to every line when it is written. */
export function openLog(settings: Settings, context?: () => object | undefined): RedactedLog {
  const secrets = new Secrets();
  secrets.register(redisSecrets(settings));
  return { log: createLog(settings.logLevel, secrets, context), secrets };
}

/** @throws Error when Redis refuses the password */
export async function openCommon(
  settings: Settings,
  { log, secrets }: RedactedLog,
  observer?: SharedServices['observer'],
): Promise<SharedServices> {
  const cache = new CollectionCache(settings.cacheMegabytes);
  const connections = new Connections();
  return { state: await openState(settings, log), cache, connections, log, secrets, observer };
}

function redisSecrets({ redisUrl }: Settings): string[] {
  const { password = '' } = redisUrl ?? {};
  return [password, decodeURIComponent(password)].filter((secret) => secret !== '');
}

/** @throws Error when Redis refuses the password */
export async function openState(settings: Settings, log: Pick<Log, 'warn'>): Promise<State> {
  const { redisUrl: url, replicas, stateDir } = settings;
  const report = (event: string, facts: Record<string, unknown>) => log.warn(event, facts);
  if (!url) return localState(stateDir ?? defaultStateFolder(process.env), { report });
  // Loaded on demand: most servers do not use Redis.
  const { redisState } = await import('../state/redis.ts');
  return redisState({ url, replicas, report });
}
