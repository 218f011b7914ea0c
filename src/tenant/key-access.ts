import type { Call, CallContext } from '../service/call.ts';
import { type ApiError, ignoreApiError } from '../service/errors.ts';
import { resources, routes } from '../service/routes.ts';
import type { Update } from '../state/port.ts';

/** What the service lets a key read, by its last responses. A refusal also invalidates what was read before. */
export class KeyAccess {
  /** Hash of the tenant's address, key and name. */
  readonly identity: string;
  readonly #publish: (update: Update) => void;
  readonly #tryKey: (call: Call) => Promise<unknown>;
  /** True if the service refused the key in its last response. */
  refused = false;

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

  /**
   * Must be called before stored data is returned. If the key was refused, checks it again with one small request.
   * @throws ApiError (such as `key-refused`) until the service accepts the key again
   */
  async require(call: CallContext): Promise<void> {
    if (this.refused) await this.#tryKey(call).catch(ignoreApiError('not-permitted'));
  }

  onUpdate({ keyRefused }: Update): void {
    if (keyRefused === this.identity) this.refused = true;
  }

  onResponse(path: string, refusal: ApiError | undefined, { purpose }: Call): void {
    const isForbidden = refusal?.kind === 'not-permitted';
    if (refusal === undefined || isForbidden) this.refused = false;
    if (refusal?.kind === 'key-refused') this.#markRefused();
    // A walk that is refused half-way returns its part, so the collection is not invalidated.
    if (!isForbidden || purpose === 'walk') return;
    const collection = resources.find((name) => routes[name].path === path);
    if (collection) this.#publish({ collection });
  }

  #markRefused(): void {
    if (this.refused) return;
    this.refused = true;
    for (const collection of resources) this.#publish({ collection, keyRefused: this.identity });
  }
}
