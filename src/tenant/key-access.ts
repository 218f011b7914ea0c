import type { Call, CallContext } from '../service/call.ts';
import { type ApiError, ignoreApiError } from '../service/errors.ts';
import { resources, routes } from '../service/routes.ts';
import type { Update } from '../state/port.ts';

export type KeyAccess = ReturnType<typeof keyAccess>;

/**
 * What the service lets a key read, by its last responses. A refusal also invalidates what was read before.
 * @param identity hash of the tenant's address, key and name
 * @param publish invalidates a collection in all processes
 * @param tryKey sends a small request
 */
export function keyAccess(
  identity: string,
  publish: (update: Update) => void,
  tryKey: (call: Call) => Promise<unknown>,
) {
  const access = {
    identity,
    /** True if the service refused the key in its last response. */
    refused: false,
    /**
     * Must be called before stored data is returned. If the key was refused, checks it again with one small request.
     * @throws ApiError (such as `key-refused`) until the service accepts the key again
     */
    async require(call: CallContext): Promise<void> {
      if (access.refused) await tryKey(call).catch(ignoreApiError('not-permitted'));
    },
    onUpdate({ keyRefused }: Update): void {
      if (keyRefused === identity) access.refused = true;
    },
    onResponse(path: string, refusal: ApiError | undefined, { purpose }: Call): void {
      const isForbidden = refusal?.kind === 'not-permitted';
      if (refusal === undefined || isForbidden) access.refused = false;
      if (refusal?.kind === 'key-refused' && !access.refused) {
        access.refused = true;
        for (const collection of resources) publish({ collection, keyRefused: identity });
      }
      // A walk that is refused half-way returns its part, so the collection is not invalidated.
      if (!isForbidden || purpose === 'walk') return;
      const collection = resources.find((name) => routes[name].path === path);
      if (collection) publish({ collection });
    },
  };
  return access;
}
