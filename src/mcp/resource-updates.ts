import type { Update } from '../state/port.ts';
import { readGrant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { resourceTemplates } from '../tool-kit/resources.ts';

/** Calls the listener with the URI of every updated resource. @returns a function that unsubscribes */
export const onResourceUpdated = (tenant: Tenant, listener: (uri: string) => void): (() => void) =>
  tenant.onUpdate((update) => {
    for (const uri of updatedUris(tenant, update)) listener(uri);
  });

/** URIs by each id, encoded and unencoded, because some hosts do not encode. */
function updatedUris(tenant: Tenant, { collection, names = [] }: Update): Set<string> {
  const templates = resourceTemplates.filter(
    ({ resource }) => resource === collection && tenant.grants.has(readGrant(resource)),
  );
  // Half of a surrogate pair cannot be encoded.
  const wellFormed = names.map((name) => name.toWellFormed());
  const spellings = wellFormed.flatMap((name) => [encodeURIComponent(name), name]);
  return new Set(
    templates.flatMap(({ uriTemplate }) =>
      spellings.map((name) => uriTemplate.replace('{id}', () => name)),
    ),
  );
}
