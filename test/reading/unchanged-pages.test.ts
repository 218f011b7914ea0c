import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hasUnknownItems } from '../../src/figures/quote-totals.ts';
import { parseGrants } from '../../src/tenant/grants.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import { startService } from '../support/compatibility/service.ts';
import fc from '../support/fast-check.ts';
import { openTenant, type Served, serve, toolCall } from '../support/hardening-tenant.ts';
import { quickOrAll } from '../support/sampling.ts';
import { closing } from '../support/shared.ts';
import type { Behaviour, Upstream } from '../support/upstream/behaviour.ts';
import { generateRecords, type ResourcePath, type Row } from '../support/upstream/records.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** A page that the service sends again unchanged is not parsed and shaped again, which nobody must notice. */

const counts = {
  '/company': 5,
  '/contact': 8,
  '/opportunity': 9,
  '/product': 7,
  '/quote': 6,
  '/contract/items': 4,
  '/pricing-book': 3,
  '/quote-discount-group': 2,
  '/category': 3,
} as const;

let closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
});

async function startTenant(): Promise<Upstream> {
  const upstream = await startUpstream({ counts });
  closers.push(() => upstream.close());
  return upstream;
}

function tenantOf({ url }: Upstream): Tenant {
  // A busy machine must not make a reading incomplete.
  const limits = { attemptMs: 30_000, connectMs: 30_000, maxBytes: 2 ** 22 };
  const tenant = openTenant({ url, grants: parseGrants(['read']), limits });
  closers.push(() => tenant.close());
  return tenant;
}

async function clientOf(tenant: Tenant): Promise<Served> {
  const served = await serve(tenant, (error) => expect(error).toBeUndefined());
  closers.push(() => served.close());
  return served;
}

type Call = readonly [name: string, args: Row];

/** The answer without the time of reading. */
async function ask({ client }: Served, [name, args]: Call) {
  const { content, structuredContent } = await client.callTool({ name, arguments: args });
  const { coverage, ...data } = structuredContent as Row;
  const { asOf: _, ...covered } = coverage as Row;
  return { content, data, covered };
}

const calls: readonly Call[] = [
  ['cpq_list_opportunities', { size: 4 }],
  ['cpq_list_opportunities', { size: 4, fields: ['name', 'owner', 'currency'] }],
  ['cpq_list_opportunities', { size: 5, sort: '-oneTime' }],
  ['cpq_list_quotes', { size: 4 }],
  ['cpq_list_contacts', { size: 5 }],
  ['cpq_list_companies', {}],
  ['cpq_list_products', { size: 3 }],
  ['cpq_list_pricing_books', {}],
  ['cpq_list_contract_items', {}],
  ['cpq_list_discount_groups', {}],
];
/** These read whole collections, from which lists take names and currencies. */
const readings: readonly Call[] = [
  ['cpq_brief_pipeline', {}],
  ['cpq_brief_quotes', {}],
  ['cpq_check_sales_data', { check: 'thin_margins' }],
];
const resourceOf = {
  '/company': 'company',
  '/opportunity': 'opportunity',
  '/quote': 'quote',
  '/product': 'product',
  '/contact': 'contact',
} as const;
const paths = ['/company', '/opportunity', '/quote', '/product', '/contact'] as const;

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ call: fc.constantFrom(...calls) }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constantFrom(...readings) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      changed: fc.constantFrom(...paths),
      at: fc.nat(20),
      how: fc.constantFrom('renamed', 'added', 'renamed elsewhere'),
    }),
  },
);
const course = fc.record({
  references: fc.constantFrom<Forms['references'][]>('whole', 'without names', 'without ids'),
  items: fc.boolean(),
  steps: fc.array(step, { minLength: 8, maxLength: 16 }),
});

/** Makes generated records refer to each other. */
function link({ records }: Upstream): void {
  const companies = records['/company'].map(({ id, name }) => ({ id, name }));
  const ofRow = (at: number) => companies[at % companies.length];
  for (const path of ['/opportunity', '/quote'] as const)
    for (const [at, row] of records[path].entries()) row.company = ofRow(at);
  for (const [at, row] of records['/contact'].entries()) row.companyId = ofRow(at)?.id;
  const [product] = records['/product'];
  for (const book of records['/pricing-book'])
    book.products = [{ productId: product?.id, price: 12 }];
}

/** As services send them that name what a record refers to by its id, or by its name alone. */
function shortenReferences({ records }: Upstream, missing: 'name' | 'id'): void {
  for (const row of [...records['/opportunity'], ...records['/quote'], ...records['/product']])
    for (const field of ['company', 'owner', 'pipelineStage', 'category', 'contact'])
      if (row[field] !== null && typeof row[field] === 'object')
        row[field] = { ...row[field], [missing]: undefined };
}

function change({ records }: Upstream, path: ResourcePath, at: number, how: string): void {
  const rows = records[path];
  const row = rows[at % rows.length];
  if (how === 'added') rows.push(...generateRecords(path, 1, 500 + at + rows.length));
  else if (row) row.name = `${how} ${at}`;
}

interface Forms {
  references: 'whole' | 'without names' | 'without ids';
  items: boolean;
}

function reshape(upstream: Upstream, { references, items }: Forms): void {
  link(upstream);
  if (references !== 'whole')
    shortenReferences(upstream, references === 'without ids' ? 'id' : 'name');
  if (!items) for (const quote of upstream.records['/quote']) delete quote.items;
}

/** Hardly a page is ever the same as before. Contract items have no id, so they stay as they are. */
const changesAlways: Behaviour = {
  onRequest: (n, { records }, { route = '/contract/items' }) => {
    if (route !== '/contract/items') for (const row of records[route]) row.revision = n;
  },
};

test('lists are those of a server that parses every page, whatever is read and changed in between', async () => {
  await fc.assert(
    fc.asyncProperty(course, async ({ steps, ...forms }) => {
      const services = [await startTenant(), await startTenant()] as const;
      for (const upstream of services) reshape(upstream, forms);
      services[1].set(changesAlways);
      const tenants = [tenantOf(services[0]), tenantOf(services[1])] as const;
      const [one, other] = [await clientOf(tenants[0]), await clientOf(tenants[1])];
      for (const next of steps) {
        if ('call' in next) {
          const expected = await ask(other, next.call);
          expect(await ask(one, next.call)).toEqual(expected);
          continue;
        }
        for (const each of services) change(each, next.changed, next.at, next.how);
        // As a webhook does.
        for (const tenant of tenants) tenant.invalidate(resourceOf[next.changed]);
      }
    }),
    { numRuns: quickOrAll(3, 60) },
  );
});

describe('an unchanged page', () => {
  let service: Upstream;
  let tenant: Tenant;
  beforeEach(async () => {
    service = await startTenant();
    tenant = tenantOf(service);
  });

  const page = (size = 4) => tenant.list('opportunity', { size }, toolCall());

  test('has the same records, as of now', async () => {
    const first = await page();
    const again = await page();
    expect(again.records).toBe(first.records);
    expect(again.coverage.asOf.getTime()).toBeGreaterThanOrEqual(first.coverage.asOf.getTime());
    const request = service.requests.filter(({ route }) => route === '/opportunity');
    expect(request).toHaveLength(2);
  });

  test('is requested each time, so that no change is missed', async () => {
    const first = await page();
    Object.assign(service.records['/opportunity'][0] ?? {}, { name: 'Renamed' });
    const changed = await page();
    expect(changed.records).not.toBe(first.records);
    expect(changed.records[0]?.name).toBe('Renamed');
    service.set({ status: { code: 403, message: 'The key is not valid' } });
    await expect(page()).rejects.toMatchObject({ kind: 'key-refused' });
  });

  test('is not taken from an answer to another request, or from another tenant', async () => {
    const first = await page();
    expect((await page(5)).records).not.toBe(first.records);
    const other = tenantOf(service);
    const theirs = await other.list('opportunity', { size: 4 }, toolCall());
    expect(theirs.records).not.toBe(first.records);
    expect(theirs.records).toEqual(first.records);
  });

  test('is parsed again after the caches were cleared, and when others pushed it out', async () => {
    const first = await page();
    tenant.clearCaches();
    const second = await page();
    expect(second.records).not.toBe(first.records);
    for (let from = 0; from < 25; from++)
      await tenant.list('product', { size: 1 + from }, toolCall());
    expect((await page()).records).not.toBe(second.records);
  });
});

test('a page of quotes whose items are read apart from it is parsed again', async () => {
  const { url, key } = closing(await startService({ items: 'by id only' }));
  const tenant = closing(openTenant({ url, key, limits: {} }));
  for (const size of [20, 20, 10]) {
    const { records } = await tenant.list('quote', { size }, toolCall());
    const unknown = records.filter(hasUnknownItems).length;
    // Three may have been read, to find out whether quotes have items.
    expect(unknown).toBeGreaterThanOrEqual(size - 3);
  }
});
