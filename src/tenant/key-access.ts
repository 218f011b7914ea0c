import type { Call, CallContext } from '../service/call.ts';
import { type ApiError, ignoreApiError, isApiError } from '../service/errors.ts';
import type { Resource } from '../service/records/records.ts';
import { resources, routes } from '../service/routes.ts';
import type { Update } from '../state/port.ts';

/** What the service lets a key read, by its last responses. A refusal also invalidates what was read before. */
export class KeyAccess {
  /** Hash of the tenant's address, key and name. */
  readonly identity: string;
  readonly #publish: (update: Update) => void;
  readonly #tryKey: (call: Call) => Promise<unknown>;
  readonly #forbidden = new Set<Resource>();
  #refused = false;

  /**
   * @param publish invalidates a collection in all processes
   * @param tryKey sends a small request
   */
  constructor(
    identity: string,
    publish: (update: Update) => void,
    tryKey: (call: Call) => Promise<unknown>,
  ) {
    this.identity = identity;
    this.#publish = publish;
    this.#tryKey = tryKey;
  }

  /** True if the service refused the key in its last response. */
  get refused(): boolean {
    return this.#refused;
  }

  /**
   * Must be called before stored data is returned. If the key was refused, checks it again with one small request.
   * @throws ApiError (such as `key-refused`) until the service accepts the key again
   */
  async require(call: CallContext): Promise<void> {
    if (this.#refused) await this.#tryKey(call).catch(ignoreApiError('not-permitted'));
  }

  /** True if the service has not refused the key, or this key's access to the collection. */
  mayRead({ collection }: Update): boolean {
    return !this.#refused && !(isResource(collection) && this.#forbidden.has(collection));
  }

  onUpdate({ keyRefused }: Update): void {
    if (keyRefused === this.identity) this.#refused = true;
  }

  onResponse(path: string, refusal: ApiError | undefined, { purpose }: Call): void {
    if (refusal === undefined && !this.#refused && this.#forbidden.size === 0) return;
    const resource = resources.find((name) => routes[name].path === path);
    if (refusal === undefined || isApiError(refusal, 'not-permitted')) this.#refused = false;
    else if (isApiError(refusal, 'key-refused')) this.#markRefused();
    if (resource === undefined) return;
    if (refusal === undefined) this.#forbidden.delete(resource);
    // A walk that is refused half-way returns its part, so the collection is not invalidated.
    else if (isApiError(refusal, 'not-permitted') && purpose !== 'walk')
      this.#markForbidden(resource);
  }

  #markRefused(): void {
    if (this.#refused) return;
    this.#refused = true;
    for (const collection of resources) this.#publish({ collection, keyRefused: this.identity });
  }

  #markForbidden(resource: Resource): void {
    if (this.#forbidden.has(resource)) return;
    this.#forbidden.add(resource);
    this.#publish({ collection: resource });
  }
}

export const isResource = (name: string | undefined): name is Resource =>
  name !== undefined && Object.hasOwn(routes, name);
