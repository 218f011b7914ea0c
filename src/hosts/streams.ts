import { HttpError, retryAfterHeader } from './access/http-error.ts';

const retrySeconds = 60;

export interface StreamLimits {
  perCaller: number;
  perTenant: number;
}

/** No further stream is opened; `by`: the limit that was reached. */
export class TooManyStreams extends HttpError {
  readonly by: keyof StreamLimits;

  constructor(by: keyof StreamLimits) {
    const whose = by === 'perCaller' ? 'You have' : 'This tenant has';
    super(429, `${whose} reached the limit of open streams: close one first.`, {
      headers: retryAfterHeader(retrySeconds),
    });
    this.by = by;
  }
}

export interface OpenStreamsOptions {
  limits: StreamLimits;
  /** `isFirst`: since the caller, or the tenant, last had no stream open. */
  onRefused?(by: keyof StreamLimits, isFirst: boolean): void;
}

interface Holder {
  open: number;
  refused: boolean;
}

/** Limits open streams per caller and per tenant. */
export class OpenStreams {
  readonly #options: OpenStreamsOptions;
  /** Keyed by caller name or by tenant object. */
  readonly #holders = new Map<unknown, Holder>();
  #open = 0;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
  }

  get open(): number {
    return this.#open;
  }

  /**
   * Counts one more stream; without a caller only the tenant's limit applies.
   * @returns the function that releases it; call it once
   * @throws TooManyStreams
   */
  acquire(caller: string | undefined, tenant: object): () => void {
    this.#check(tenant, 'perTenant');
    const names = caller === undefined ? [tenant] : [tenant, caller];
    if (caller !== undefined) this.#check(caller, 'perCaller');
    for (const name of names) this.#holder(name).open += 1;
    this.#open += 1;
    return () => {
      this.#open -= 1;
      for (const name of names) this.#release(name);
    };
  }

  #check(name: unknown, by: keyof StreamLimits): void {
    const holder = this.#holders.get(name);
    if (!holder || holder.open < this.#options.limits[by]) return;
    this.#options.onRefused?.(by, !holder.refused);
    holder.refused = true;
    throw new TooManyStreams(by);
  }

  #holder(name: unknown): Holder {
    const holder = this.#holders.get(name) ?? { open: 0, refused: false };
    this.#holders.set(name, holder);
    return holder;
  }

  #release(name: unknown): void {
    const holder = this.#holder(name);
    holder.open -= 1;
    if (holder.open === 0) this.#holders.delete(name);
  }
}
