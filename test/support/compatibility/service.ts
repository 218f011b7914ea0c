import type { Active, Behaviour, Rewrite, Upstream } from '../upstream/behaviour.ts';
import { startUpstream } from '../upstream/upstream.ts';
import { type DataChoices, makeStoredData, type StoredData, treeOf } from './stored-data.ts';

/** Everything in which two services that both fit the documentation may differ; what is left out is as documented. */
export interface Choices extends Behaviour, DataChoices {
  rewrite?: (() => Rewrite) | undefined;
  writeRule?: Active['writeRule'];
}

/** A service with the records of a tenant. */
export interface Service extends Upstream {
  key: string;
  /** What it stores, however it sends it. */
  storedData: StoredData;
}

const key = 'CompatibilityKey0123456789';

/** The documented service in its strictest form. */
const documented: Behaviour = {
  keys: new Set([key]),
  maxSize: 1_000,
  omitted: 'cleared',
  refusesUnknownIds: true,
};

/** Starts a service with data of its own that differs from the documented one by these choices. */
export async function startService(choices: Choices = {}): Promise<Service> {
  const { ids, products, outcomes, ...behaviour } = choices;
  const storedData = makeStoredData({ ids, products, outcomes });
  const upstream = await startUpstream({
    ...documented,
    ...behaviour,
    longIds: ids === '19 digits',
    finalSlash: true,
    records: { ...storedData, '/category/tree': treeOf(storedData['/category']) },
  });
  return { ...upstream, key, storedData };
}
