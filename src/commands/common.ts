import type { Settings } from '../config/settings.ts';
import type { TenantObserver } from '../hosts/observer.ts';
import type { Log } from '../log.ts';
import { CollectionCache } from '../reading/cache.ts';
import { type Connections, openConnections } from '../service/connections/connections.ts';
import { localState } from '../state/files/local.ts';
import { defaultStateFolder } from '../state/files/state-folder.ts';
import type { State } from '../state/port.ts';
import { registerSecrets } from '../text/secrets.ts';

export interface SharedServices {
  log: Log;
  state: State;
  cache: CollectionCache;
  connections: Connections;
  /** Creates the observer of a tenant by the operator's name of it; absent outside of `http`. */
  observer: ((name: string) => TenantObserver) | undefined;
}

/** @throws Error when Redis refuses the password */
export async function openCommon(
  settings: Settings,
  log: Log,
  observer?: SharedServices['observer'],
): Promise<SharedServices> {
  const cache = new CollectionCache(settings.cacheMegabytes);
  const connections = openConnections();
  const { password = '' } = settings.redisUrl ?? {};
  const secrets = [settings.metricsToken, password, decodeURIComponent(password)];
  const unregisterSecrets = registerSecrets(secrets);
  const state = await openState(settings, log);
  const close = async () => {
    await state.close();
    unregisterSecrets();
  };
  return { state: { ...state, close }, cache, connections, log, observer };
}

/** @throws Error when Redis refuses the password */
export async function openState(settings: Settings, log: Pick<Log, 'warn'>): Promise<State> {
  const { redisUrl: url, stateDir } = settings;
  const report = (event: string, facts: Record<string, unknown>) => log.warn(event, facts);
  if (!url) return localState(stateDir ?? defaultStateFolder(process.env), { report });
  // Loaded on demand: most servers do not use Redis.
  const { redisState } = await import('../state/redis/redis.ts');
  return redisState({ url, report });
}
