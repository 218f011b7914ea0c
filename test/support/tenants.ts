import { writeFile } from 'node:fs/promises';
import { bearer, fileIn, type Headers, newToken, startTeam, type Team } from './access.ts';
import type { Row } from './hosts.ts';
import { closing, newFolder } from './shared.ts';
import { until } from './until.ts';
import { startUpstream, type Upstream } from './upstream/upstream.ts';

export const keyOf = (name: string) => `key-of-${name}-0123456789abcdef`;
export const hookOf = (name: string) => `hook-of-${name}-0123456789abcdef`;

/** Address and key of a tenant. */
export interface Place {
  upstream: Upstream;
  key: string;
  described: Row;
}

export async function place(name: string, seed: number): Promise<Place> {
  const key = keyOf(name);
  const upstream = closing(await startUpstream({ seed, keys: new Set([key]) }));
  const described = { baseUrl: upstream.url, apiKey: key, webhookSecret: hookOf(name) };
  return { upstream, key, described };
}

export interface Many extends Team {
  path: string;
  /** Writes the file, signals the server, and waits until it has logged the result. */
  describeAs(tenants: unknown): Promise<void>;
  as(tenant: string): Headers;
}

/** Creates tokens with these grants for each name, whether it is served at first or not. */
export async function startMany(
  tenants: Record<string, Row>,
  names: readonly string[] = Object.keys(tenants),
  more: Record<string, string> = {},
  grants = 'read',
): Promise<Many> {
  const folder = newFolder();
  const path = await fileIn(folder, 'tenants.json', { tenants });
  const state = { CPQ_STATE_DIR: more.CPQ_STATE_DIR ?? newFolder() };
  const made = new Map<string, string>();
  const later = { tenants: Object.fromEntries(names.map((name) => [name, {}])) };
  const env = { ...state, CPQ_TENANTS_FILE: await fileIn(newFolder(), 'later.json', later) };
  for (const name of names)
    made.set(name, await newToken([name, '--tenant', name, '--grants', grants], env));
  const keys = Object.values(tenants).flatMap(({ apiKey, webhookSecret }) =>
    [apiKey, webhookSecret].filter((secret) => typeof secret === 'string'),
  );
  const team = await startTeam({ ...state, CPQ_AUTH: 'token', CPQ_TENANTS_FILE: path, ...more }, [
    ...made.values(),
    ...keys,
  ]);
  const readings = () => team.stderr().match(/tenants (not )?reloaded/g)?.length ?? 0;
  return {
    ...team,
    path,
    as: (tenant) => bearer(made.get(tenant) ?? ''),
    async describeAs(described) {
      const before = readings();
      const text =
        typeof described === 'string' ? described : JSON.stringify({ tenants: described });
      await writeFile(path, text);
      team.running.kill('SIGHUP');
      await until(readings).toBe(before + 1);
    },
  };
}
