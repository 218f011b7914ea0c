import type { RateLimit } from './limits.ts';
import type { Failure, Retry, Subscription } from './webhooks.ts';

export interface SandboxOptions {
  /** Port on 127.0.0.1; 0, the default, takes any free one. */
  port?: number;
  /** SQLite file to keep the data in; in memory without it. Data that is there already is kept. */
  file?: string;
  /** The same seed makes the same data and keys. Default 1. */
  seed?: number;
  /** Multiplies how many records there are; at least one of everything is made. Default 1. */
  scale?: number;
  /** The day that the data's dates are relative to, and the service's clock starts at. */
  now?: Date;
  /** Requests in a rolling window, per tenant; default 500 in 600 seconds. */
  rateLimit?: RateLimit | false;
  /** What the PUT of an opportunity does with fields that the body leaves out. Default `keep`. */
  upsertOmitted?: 'keep' | 'clear';
  /** Names of the tenants; every second one keeps probabilities as 0–100. */
  tenants?: string[];
  /** Where events are sent; more can be added while it runs. Without a tenant, those of the first. */
  webhooks?: (Partial<Omit<Subscription, 'id'>> & { url: string })[];
  /** How often and when a delivery is tried again. */
  deliveryRetry?: Partial<Retry>;
  /** Told when a delivery is given up. */
  onDeliveryFailure?: (failure: Failure) => void;
}

export interface SandboxTenant {
  name: string;
  /** The API is at `{baseUrl}/public-api`. */
  baseUrl: string;
  /** `all` may do everything, `read` reads everything, `limited` reads companies, contacts and opportunities. */
  keys: { all: string; read: string; limited: string };
}
