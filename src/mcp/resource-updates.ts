import type { Update } from '../state/port.ts';
import type { ResourceTemplate } from '../tool-kit/resources.ts';
import { readableTemplates } from './resources.ts';
import type { CallParts } from './tool-run.ts';

/** Calls the listener with the URI of every updated resource. @returns a function that unsubscribes */
export const onResourceUpdated = (
  { tenant, surface }: Pick<CallParts, 'tenant' | 'surface'>,
  listener: (uri: string) => void,
): (() => void) =>
  tenant.updates.subscribe((update) => {
    const readable = readableTemplates({ grants: tenant.grants, surface });
    for (const uri of updatedUris(readable, update)) listener(uri);
  });

/** URIs by each id, encoded and unencoded, because some hosts do not encode. */
function updatedUris(
  readable: readonly ResourceTemplate[],
  { collection, names = [] }: Update,
): Set<string> {
  const templates = readable.filter(({ resource }) => resource === collection);
  // Half of a surrogate pair cannot be encoded.
  const wellFormed = names.map((name) => name.toWellFormed());
  const spellings = wellFormed.flatMap((name) => [encodeURIComponent(name), name]);
  return new Set(
    templates.flatMap(({ uriTemplate }) =>
      spellings.map((name) => uriTemplate.replace('{id}', () => name)),
    ),
  );
}
