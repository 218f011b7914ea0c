import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChangeCall } from '../../src/changes/consent.ts';
import { CollectionCache } from '../../src/reading/cache.ts';
import type { Call } from '../../src/service/call.ts';
import { type ApiErrorKind, isApiError } from '../../src/service/errors.ts';
import type { Resource } from '../../src/service/records/records.ts';
import { localState } from '../../src/state/files/local.ts';
import type { State } from '../../src/state/port.ts';
import { parseGrants } from '../../src/tenant/grants.ts';
import {
  type SharedTenantState,
  sharedTenantState,
  type TenantOptions,
} from '../../src/tenant/shared-state.ts';
import { Tenant } from '../../src/tenant/tenant.ts';
import type { Row } from './hosts.ts';
import { testKey } from './sandbox.ts';
import type { ErrorKind } from './upstream/faults.ts';
import type { ResourcePath } from './upstream/records.ts';

/** Generous, because the machine may be busy. A service that never answers is asked with a shorter time limit. */
export const defaultLimits = { attemptMs: 20_000, connectMs: 20_000, maxBytes: 3 * 2 ** 20 };

export interface OpenTenantOptions extends Partial<Omit<TenantOptions, 'baseUrl'>> {
  url: string;
}

/** Nothing is stored, because another test may start another service at the same port. */
export const inMemory = (): State => {
  const { collections: _, ...others } = localState(join(tmpdir(), 'cpq-mcp-hardening-unused'));
  return others;
};

const sharedStates = new WeakMap<Tenant, SharedTenantState>();

/** The client and the pages of a tenant of `openTenant`. */
export function sharedStateOf(tenant: Tenant): SharedTenantState {
  const shared = sharedStates.get(tenant);
  if (!shared) throw new Error('not a tenant of openTenant');
  return shared;
}

/** Of a reading that has all the time it wants. */
export const walkCall: Call = {
  signal: new AbortController().signal,
  deadline: Number.MAX_SAFE_INTEGER,
  purpose: 'walk',
};

/** A tenant in this process with immediate retries. */
export function openTenant({ url, ...more }: OpenTenantOptions): Tenant {
  const options: TenantOptions = {
    baseUrl: new URL(url),
    key: testKey,
    pageParam: 'from',
    state: inMemory(),
    writeRules: { perHour: 100, fields: new Set(), allowedStages: [] },
    grants: parseGrants(['read', 'opportunity:write']),
    cache: new CollectionCache(64),
    limits: defaultLimits,
    firstRetryDelayMs: 4,
    ...more,
  };
  const shared = sharedTenantState(options);
  const tenant = new Tenant(options, shared);
  sharedStates.set(tenant, shared);
  return tenant;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Deadline in milliseconds from now. */
  time?: number;
  progress?: ChangeCall['progress'];
}

export const toolCall = ({ signal, time = 45_000, progress }: CallOptions = {}): ChangeCall => ({
  signal: signal ?? new AbortController().signal,
  deadline: Date.now() + time,
  progress: progress ?? (() => {}),
  client: 'hardening',
  consent: () => Promise.reject(new Error('nobody is asked here')),
});

/** The collection behind each route, and the tool that lists it. */
export const collections: Readonly<Record<ResourcePath, { resource: Resource; tool: string }>> = {
  '/company': { resource: 'company', tool: 'cpq_list_companies' },
  '/contact': { resource: 'contact', tool: 'cpq_list_contacts' },
  '/opportunity': { resource: 'opportunity', tool: 'cpq_list_opportunities' },
  '/product': { resource: 'product', tool: 'cpq_list_products' },
  '/quote': { resource: 'quote', tool: 'cpq_list_quotes' },
  '/quote-template': { resource: 'quote_template', tool: 'cpq_list_quote_templates' },
  '/quote-widget-template': { resource: 'quote_widget', tool: 'cpq_list_quote_widgets' },
  '/pricing-book': { resource: 'pricing_book', tool: 'cpq_list_pricing_books' },
  '/category': { resource: 'category', tool: 'cpq_list_categories' },
  '/category/tree': { resource: 'category_tree', tool: 'cpq_get_category_tree' },
  '/quote-discount-group': { resource: 'discount_group', tool: 'cpq_list_discount_groups' },
  '/contract/items': { resource: 'contract_item', tool: 'cpq_list_contract_items' },
};

/** Identifies a record of the upstream, with or without an id. */
export const nameOf = (record: Readonly<Row>): string =>
  String(record.id ?? `${record.service} ${record.revenue}`);

/** The kind of an error, in the words of these tests. */
export function kindOf(error: unknown): ErrorKind | 'internal' {
  if (!isApiError(error)) return 'internal';
  const isForbidden = error.kind === 'key-refused' && error.facts.status === 403;
  return isForbidden ? 'forbidden' : kinds[error.kind];
}

const kinds: Readonly<Record<ApiErrorKind, ErrorKind>> = {
  'key-refused': 'unauthorised',
  'rate-limited': 'rate limited',
  'budget-spent': 'rate limited',
  'not-permitted': 'forbidden',
  'not-found': 'not found',
  refused: 'rejected',
  'no-route': 'not the API',
  'web-page': 'not the API',
  redirect: 'not the API',
  'server-error': 'unavailable',
  'connection-lost': 'unavailable',
  unreachable: 'unavailable',
  'circuit-open': 'unavailable',
  malformed: 'bad response',
  'embedded-error': 'bad response',
  unexpected: 'bad response',
  'timed-out': 'timed out',
  'too-large': 'too large',
};

/** The wording of each kind for an assistant. */
export const wordsOf: Readonly<Record<ErrorKind, RegExp>> = {
  'rate limited': /accepts no more requests|request budget/,
  unauthorised: /key was not accepted/,
  forbidden: /key was not accepted|does not let this key read/,
  'not found': /no such record/,
  rejected: /refused the request/,
  'not the API': /web page|redirect|has no route/,
  unavailable: /closed the connection|answered with status|failed several times|cannot be reached/,
  'bad response': /cannot be read|with an error instead of records/,
  'timed out': /No complete answer from .* in time/,
  'too large': /larger than this server accepts/,
};
