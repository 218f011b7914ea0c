import type { RateLimit } from './limits.ts';
import type { Failure, Retry, Subscription } from './webhooks.ts';

export interface SandboxOptions {
  /** Port on 127.0.0.1; 0, the default, takes any free one. */
  port?: number | undefined;
  /** SQLite file for the data; in memory without it. Data and keys in it are used; `seed`, `scale` and `now` are ignored then. */
  file?: string | undefined;
  /** The same seed gives the same data and keys. Default 1. */
  seed?: number | undefined;
  /** Multiplies the number of records; at least one of each kind is created. Default 1. */
  scale?: number | undefined;
  /** The day to which all dates are relative, and at which the service's clock starts; default the present. */
  now?: Date;
  /** Requests in a rolling window, per tenant; default 500 in 600 seconds. */
  rateLimit?: RateLimit | false | undefined;
  /** What PUT of an opportunity does with fields that the body omits. Default `keep`. */
  upsertOmitted?: 'keep' | 'clear';
  /** Names of the tenants, of letters, digits and hyphens; every second one has probabilities of 0–100 and EUR, the others 0–1 and USD. */
  tenants?: string[];
  /** Webhooks; more can be added while it runs. Without a tenant, they belong to the first one. */
  webhooks?: (Partial<Subscription> & { url: string })[];
  /** Default: 6 attempts, 1 s apart, doubling up to 300 s, with 10 s for an answer. */
  deliveryRetry?: Partial<Retry>;
  /** Called when a delivery is abandoned. */
  onDeliveryFailure?: (failure: Failure) => void;
}

export interface SandboxTenant {
  name: string;
  /** The API is at `{baseUrl}/public-api`. */
  baseUrl: string;
  /** `all` has every grant, `read` reads everything, `limited` reads companies, contacts and opportunities. */
  keys: { all: string; read: string; limited: string };
}
