import type { Settings } from '../config.ts';
import type { TenantObserver } from '../hosts/server-observer.ts';
import { createLog, type Log } from '../log.ts';
import { localState } from '../state/local.ts';
import type { State } from '../state/port.ts';
import { defaultStateFolder } from '../state/state-folder.ts';
import { CollectionCache } from '../tenant/cache.ts';
import { Secrets } from './secrets.ts';

/** What all tenants of a process share. */
export interface SharedServices {
  state: State;
  cache: CollectionCache;
  log: Log;
  /** Taken out of every line of the log. */
  secrets: Secrets;
  /** Watches a tenant, by the operator's name for it; only what many share is watched. */
  observer: ((name: string) => TenantObserver) | undefined;
}

/** A log, and what is taken out of every line of it. */
export type RedactedLog = Pick<SharedServices, 'log' | 'secrets'>;

/** `context`: what every line says as well, of the moment in which it is written. */
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
  return { state: await openState(settings, log), cache, log, secrets, observer };
}

function redisSecrets({ redisUrl }: Settings): string[] {
  const { password = '' } = redisUrl ?? {};
  return [password, decodeURIComponent(password)].filter((secret) => secret !== '');
}

async function openState(settings: Settings, log: Log): Promise<State> {
  const { redisUrl: url, replicas, stateDir } = settings;
  const tell = (event: string, facts: Record<string, unknown>) => log.warn(event, facts);
  if (!url) return localState(stateDir ?? defaultStateFolder(process.env), { report: tell });
  // Loaded where it is wanted: most servers share nothing.
  const { redisState } = await import('../state/redis.ts');
  return redisState({ url, replicas, report: tell });
}
