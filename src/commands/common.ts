import type { Settings } from '../config.ts';
import type { TenantObserver } from '../hosts/observer.ts';
import { factsOf, type Log } from '../log.ts';
import { CollectionCache } from '../reading/cache.ts';
import { type Connections, openConnections } from '../service/connections/connections.ts';
import { localState } from '../state/files/local.ts';
import { defaultStateFolder } from '../state/files/state-folder.ts';
import { keptMs, type State } from '../state/port.ts';
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
  const unregisterSecrets = registerSecrets([settings.metricsToken, ...redisSecrets(settings)]);
  const state = await openState(settings, log);
  const stopExpiry = startHistoryExpiry(state, log);
  const close = async () => {
    stopExpiry();
    await state.close();
    unregisterSecrets();
  };
  return { state: { ...state, close }, cache, connections, log, observer };
}

function redisSecrets({ redisUrl }: Settings): string[] {
  const { password = '' } = redisUrl ?? {};
  return [password, decodeURIComponent(password)];
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

/** After the start, when calls are waiting for their first answer. */
const firstExpiryMs = 60_000;
const expiryIntervalMs = 86_400_000;
/** Slightly less than the interval, so that the next run of the same process is not refused. */
const expiryClaimMs = expiryIntervalMs - 3_600_000;

/** Once a day, in one of the processes that share the state. @returns a function that ends this */
function startHistoryExpiry(state: State, log: Log): () => void {
  let isStopped = false;
  const run = () =>
    deleteExpired(state).catch((error: unknown) => {
      if (!isStopped) log.warn('expired history not deleted', factsOf(error));
    });
  const timers = [setTimeout(run, firstExpiryMs), setInterval(run, expiryIntervalMs)];
  for (const timer of timers) timer.unref();
  return () => {
    isStopped = true;
    for (const timer of timers) clearTimeout(timer);
  };
}

async function deleteExpired(state: State): Promise<void> {
  const until = Date.now() + expiryClaimMs;
  if (!(await state.claim('expiry of histories', until))) return;
  // Loaded here, because a start does not need it.
  const { deleteExpiredSnapshots } = await import('../history/history.ts');
  await deleteExpiredSnapshots(state, new Date());
  await state.collections?.deleteUnchanged?.(2 * keptMs);
}
