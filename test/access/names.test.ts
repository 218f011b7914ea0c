import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import { parseGrants } from '../../src/tenant/grants.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import fc from '../support/fast-check.ts';
import { openTenant } from '../support/hardening-tenant.ts';
import type { Row } from '../support/hosts.ts';
import { quickOrAll } from '../support/sampling.ts';
import { newFolder } from '../support/shared.ts';
import { serve } from '../support/tenant-server.ts';
import { firstOf, only, type Upstream } from '../support/upstream/behaviour.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/**
 * A caller sees no name that the collections it may read do not contain, whoever asked before. Every name begins with
 * the mark of its collection. Records refer to others by id alone (flat), or with the name (nested).
 */

const kinds = [
  ...(['company', 'contact', 'category', 'opportunity', 'product', 'quote'] as const),
  'pricing_book' as const,
];
type Kind = (typeof kinds)[number];
type Marked = Kind | 'owner';
const linking = ['contact', 'opportunity', 'product', 'quote'] as const;
type Linking = (typeof linking)[number];
type Forms = Readonly<Record<Linking, 'flat' | 'nested'>>;

const mark: Readonly<Record<Marked, string>> = {
  company: 'Kompanio',
  contact: 'Homulo',
  category: 'Klaso',
  opportunity: 'Okazo',
  product: 'Varo',
  quote: 'Oferto',
  pricing_book: 'Prezaro',
  owner: 'Posedanto',
};

/** What the records of a collection refer to. */
const links: Readonly<Record<Linking, readonly Marked[]>> = {
  contact: ['company'],
  opportunity: ['company', 'contact', 'category', 'owner'],
  product: ['category'],
  quote: ['company', 'contact', 'opportunity', 'owner'],
};

const routeOf = (kind: Kind) => (kind === 'pricing_book' ? '/pricing-book' : (`/${kind}` as const));
const idOf = (kind: Marked, at: number): string => `${kind.slice(0, 3)}${at}`;
const nameOf = (kind: Marked, at: number): string => `${mark[kind]} acme ${at}`;
const count = 6;

function references(kind: Linking, at: number, forms: Forms): Row {
  const fields = links[kind].map((target): [string, unknown] => {
    const id = idOf(target, at % 4);
    return forms[kind] === 'flat'
      ? [`${target}Id`, id]
      : [target, { id, name: nameOf(target, at % 4) }];
  });
  return Object.fromEntries(fields);
}

const own: Readonly<Record<Kind, (at: number) => Row>> = {
  company: () => ({ currency: 'USD', type: 'customer' }),
  contact: (at) => ({ email: `${at}@example.org` }),
  category: () => ({ markup: 10 }),
  opportunity: (at) => ({
    pipelineStage: { id: 's1', name: 'Proposal' },
    probability: 0.5,
    onetimeRevenue: 100 * at,
    monthlyRevenue: 0,
    expectedCloseDate: '2026-05-01',
  }),
  product: (at) => ({ mpn: `P-${at}`, price: 10, cost: 12, productType: 'product' }),
  pricing_book: (at) => ({
    companyIds: [idOf('company', at % 4)],
    products: [{ productId: idOf('product', at % 4), price: 9 }],
  }),
  quote: (at) => ({
    number: `Q-${at}`,
    title: nameOf('quote', at),
    status: 'sent',
    sentAt: '2026-05-01T08:00:00.000Z',
    expiresAt: '2026-05-03T08:00:00.000Z',
    items: [{ id: `i${at}`, mpn: `P-${at}`, quantity: 1, price: 10 + at, cost: 5 }],
  }),
};

const rowsOf = (kind: Kind, forms: Forms, day: number): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    id: idOf(kind, at),
    name: nameOf(kind, at),
    ...own[kind](at + day),
    ...(kind in links ? references(kind as Linking, at + day, forms) : {}),
    createdAt: '2026-01-01T08:00:00.000Z',
    updatedAt: `2026-06-0${day + 1}T08:00:00.000Z`,
  }));

/** The marks that a caller may see: of the collections it may read, and of what their own records name. */
function allowed(readable: ReadonlySet<Kind>, forms: Forms): ReadonlySet<Marked> {
  const nested = linking.filter((kind) => readable.has(kind) && forms[kind] === 'nested');
  return new Set<Marked>([...readable, ...nested.flatMap((kind) => links[kind])]);
}

type Ask = (client: Client) => Promise<unknown>;
const tool =
  (name: string, args: Row = {}): Ask =>
  (client) =>
    client.callTool({ name, arguments: args });
const resource =
  (uri: string): Ask =>
  (client) =>
    client.readResource({ uri });

const asks: readonly Ask[] = [
  ...['companies', 'contacts', 'opportunities', 'products', 'quotes'].map((what) =>
    tool(`cpq_list_${what}`),
  ),
  tool('cpq_list_opportunities', { filters: 'company:acme' }),
  tool('cpq_list_opportunities', { sort: 'company', fields: ['company', 'owner', 'category'] }),
  tool('cpq_list_quotes', { filters: 'company:acme 1', detail: 'full' }),
  tool('cpq_list_products', { filters: 'category:acme' }),
  tool('cpq_list_contacts', { filters: 'company:acme 2' }),
  tool('cpq_list_pricing_books', { detail: 'full' }),
  tool('cpq_list_pricing_books', { filters: 'product:acme' }),
  tool('cpq_find', { query: 'acme 1' }),
  ...['stage', 'owner', 'company', 'category'].map((by) => tool('cpq_brief_pipeline', { by })),
  tool('cpq_brief_pipeline', { company: 'acme' }),
  tool('cpq_brief_company', { company: 'com1' }),
  tool('cpq_brief_quote', { quote: 'Q-1' }),
  tool('cpq_brief_quotes'),
  tool('cpq_brief_quotes', { company: 'acme 1' }),
  ...['thin_margins', 'stale_quotes', 'overdue', 'pricing_drift'].map((check) =>
    tool('cpq_check_sales_data', { check }),
  ),
  tool('cpq_pipeline_changes'),
  tool('cpq_pipeline_changes', { company: 'acme' }),
  ...(['contact', 'opportunity', 'product', 'quote', 'pricing_book'] as const).map((kind) =>
    tool('cpq_get_record', { resource: kind, id: `${kind.slice(0, 3)}1` }),
  ),
  resource('cpq://opportunity/opp1'),
  resource('cpq://quote/quo1'),
  resource('cpq://export/cpq_list_opportunities'),
  resource('cpq://export/cpq_brief_pipeline?by=company'),
  resource('cpq://export/cpq_pipeline_changes?by=company'),
  (client) =>
    client.complete({
      ref: { type: 'ref/resource', uri: 'cpq://opportunity/{id}' },
      argument: { name: 'id', value: 'o' },
    }),
];

interface Step {
  grants: readonly Kind[];
  /** The server is started again, the next day. */
  restart: boolean;
  asks: readonly number[];
}

const steps = fc.array(
  fc.record({
    grants: fc.oneof(
      fc.constant([...kinds]),
      fc.subarray([...kinds], { minLength: 1, maxLength: 3 }),
    ),
    restart: fc.boolean(),
    asks: fc.array(fc.nat(asks.length - 1), { minLength: 2, maxLength: 5 }),
  }),
  { minLength: 2, maxLength: 6 },
);
const form = fc.constantFrom('flat' as const, 'nested' as const);
const forms = fc.record({ contact: form, opportunity: form, product: form, quote: form });

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
});

afterAll(async () => {
  await upstream.close();
});

afterEach(() => void vi.useRealTimers());

function provide(day: number, refused: readonly Kind[], formsOf: Forms): void {
  vi.setSystemTime(new Date(Date.UTC(2026, 5, 2 + day, 12)));
  for (const kind of kinds) upstream.records[routeOf(kind)] = rowsOf(kind, formsOf, day);
  const forbidden = { code: 403, message: 'Forbidden resource' };
  upstream.set({
    status: firstOf(...refused.map((kind) => only(forbidden, { path: routeOf(kind) }))),
  });
}

/** The names in an answer that the caller may not see. */
async function crossings(tenant: Tenant, step: Step, may: ReadonlySet<Marked>): Promise<string[]> {
  const grants = parseGrants(step.grants.map((kind) => `${kind}:read`));
  const client = await serve(tenant.withGrants(grants)).connect({ era: 'legacy' });
  const found: string[] = [];
  for (const at of step.asks) {
    const answer = await asks[at]?.(client).catch((error: unknown) => String(error));
    const text = JSON.stringify(answer) ?? '';
    for (const [kind, word] of Object.entries(mark))
      if (text.includes(word) && !may.has(kind as Marked)) found.push(`${at}: ${kind}: ${text}`);
  }
  await client.close();
  return found;
}

async function crossingsOf(
  all: readonly Step[],
  formsOf: Forms,
  refused: readonly Kind[],
  refusedFrom: number,
): Promise<string[]> {
  vi.useFakeTimers({ toFake: ['Date'] });
  const folder = newFolder();
  const open = () =>
    openTenant({
      url: upstream.url,
      state: localState(join(folder, 'state')),
      requestLimit: 1_000_000,
      history: { keepDays: 400, onError: (error) => expect.unreachable(String(error)) },
    });
  let [day, tenant, refusedNow]: [number, Tenant, readonly Kind[]] = [0, open(), []];
  provide(day, refusedNow, formsOf);
  const found: string[] = [];
  for (const [at, step] of all.entries()) {
    if (step.restart) {
      await tenant.close();
      day += 1;
      refusedNow = at >= refusedFrom ? refused : [];
      provide(day, refusedNow, formsOf);
      tenant = open();
    }
    const readable = new Set(step.grants.filter((kind) => !refusedNow.includes(kind)));
    found.push(...(await crossings(tenant, step, allowed(readable, formsOf))));
  }
  await tenant.close();
  return found;
}

const flat: Forms = { contact: 'flat', opportunity: 'flat', product: 'flat', quote: 'flat' };
const every = asks.map((_, at) => at);

const askAll = (grants: readonly Kind[], restart = false) => ({ grants, restart, asks: every });

test('names that another caller may read are not in the answers of one that may not', async () => {
  for (const kind of kinds) {
    const steps = [askAll(kinds), askAll([kind]), askAll([kind], true)];
    expect(await crossingsOf(steps, flat, [], 0), kind).toEqual([]);
  }
});

test('names of a collection that the service refuses are not in later answers', async () => {
  for (const refused of kinds) {
    const steps = [askAll(kinds), askAll(kinds, true)];
    expect(await crossingsOf(steps, flat, [refused], 0), refused).toEqual([]);
  }
});

test('no answer has a name outside the grants, whoever asks in which order', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      forms,
      fc.subarray([...kinds], { maxLength: 2 }),
      fc.nat(3),
      async (all, formsOf, refused, refusedFrom) => {
        expect(await crossingsOf(all, formsOf, refused, refusedFrom)).toEqual([]);
      },
    ),
    { numRuns: quickOrAll(10, 200) },
  );
});
