import type { Call } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { type ApiError, isApiError, isInternalError } from '../service/errors.ts';
import type { Page, Search } from '../service/page.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';
import type { LearntTraits, ServiceProfile } from './profile.ts';

/** Page sizes to try in turn if a larger one is refused. */
const smallerSizes = [100, 50, 25] as const;
const minSize = 25;
/** After this time a size that was answered with status 500 is tried again. */
const failedSizeMs = 10 * 60_000;

export type AnyPage = Page<ApiRecord>;
export type SizedRequest = Search & { size: number; from?: number; offsetName?: string };

/** Pages of the largest size that a route accepts, which is learnt. */
export class SizedPages {
  readonly #client: Pick<ApiClient, 'page'>;
  readonly #profile: ServiceProfile;

  constructor(client: Pick<ApiClient, 'page'>, profile: ServiceProfile) {
    this.#client = client;
    this.#profile = profile;
  }

  /** Requests the largest size, up to the requested one, that the route accepts. */
  async page(resource: Resource, request: SizedRequest, call: Call): Promise<AnyPage> {
    let refusal: ApiError | undefined;
    for (const size of sizesFor(request.size, this.#profile.of(resource))) {
      try {
        const page = await this.#unlessTooLarge(resource, request, size, call);
        return this.#noteSize(resource, size, page, refusal && 'refused');
      } catch (error) {
        if (!isAboutSize(error, size, this.#profile.of(resource))) throw refusal ?? error;
        refusal ??= error;
      }
    }
    throw refusal;
  }

  /** A size that has not worked before may be the cause of a status 500. */
  async #unlessTooLarge(
    resource: Resource,
    request: SizedRequest,
    size: number | undefined,
    call: Call,
  ): Promise<AnyPage> {
    const provenSize = Math.max(minSize, this.#profile.of(resource).takenSize);
    const probesSize = size !== undefined && size > provenSize;
    try {
      return await this.#client.page(resource, { ...request, size, probesSize }, call);
    } catch (error) {
      if (!probesSize || !isInternalError(error)) throw error;
      return this.#afterInternalError(resource, { ...request, size }, provenSize, call);
    }
  }

  /**
   * Requests the smallest size to find out whether the service is down or fails only for larger sizes. If it is down,
   * this sends as many requests as for any other page.
   */
  async #afterInternalError(
    resource: Resource,
    request: SizedRequest,
    provenSize: number,
    call: Call,
  ): Promise<AnyPage> {
    const smallest = { ...request, size: provenSize, attempts: 2 };
    const small: AnyPage = await this.#client.page(resource, smallest, call);
    const smaller = smallerSizes.filter((it) => provenSize < it && it < request.size);
    for (const size of [request.size, ...smaller]) {
      try {
        const page = await this.#client.page(
          resource,
          { ...request, size, probesSize: true },
          call,
        );
        return this.#noteSize(resource, size, page, size < request.size && 'failed');
      } catch (error) {
        if (!isInternalError(error)) throw error;
      }
    }
    return this.#noteSize(resource, provenSize, small, 'failed');
  }

  /** Learns the largest size; after a failure of a larger one only for a limited time. */
  #noteSize(
    resource: Resource,
    size: number | undefined,
    page: AnyPage,
    larger: 'refused' | 'failed' | false | undefined,
  ): AnyPage {
    const { takenSize, maxRows } = this.#profile.of(resource);
    this.#profile.learn(resource, {
      takenSize: larger ? (size ?? 0) : Math.max(takenSize, size ?? 0),
      maxRows: Math.max(maxRows, page.records.length),
      countedIn: page.countedIn ?? 'none',
      ...(larger && { maxSize: size ?? 'none' }),
      ...(larger === 'failed' && { maxSizeUntil: Date.now() + failedSizeMs }),
    });
    return size === undefined ? { ...page, withoutSize: true } : page;
  }
}

function sizesFor(asked: number, { maxSize }: LearntTraits): (number | undefined)[] {
  if (maxSize === 'none') return [undefined];
  const first = Math.min(asked, maxSize ?? asked);
  return [first, ...smallerSizes.filter((size) => size < first), undefined];
}

/** Whether a smaller size may be accepted after this refusal. */
function isAboutSize(
  error: unknown,
  size: number | undefined,
  { takenSize }: LearntTraits,
): error is ApiError {
  if (size === undefined || !isApiError(error, 'refused')) return false;
  const { upstreamMessage = '' } = error.facts;
  if (/\b(size|limit)\b/i.test(upstreamMessage)) return true;
  // Without a message, the size is the likely cause unless it worked before.
  const isAboutAnother = /\b(filters?|query|sort|from|offset|skip|page)\b/i.test(upstreamMessage);
  return size > takenSize && !isAboutAnother;
}
