import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Grant, parseGrants } from '../../src/tenant/grants.ts';
import type { Tenant } from '../../src/tenant/tenant.ts';
import fc from '../support/fast-check.ts';
import { openTenant } from '../support/hardening-tenant.ts';
import type { Row } from '../support/hosts.ts';
import { quickOrAll } from '../support/sampling.ts';
import { serve } from '../support/tenant-server.ts';
import type { Upstream } from '../support/upstream/behaviour.ts';
import { generateRecords } from '../support/upstream/records.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

/** A question that is asked again is answered as if it had never been asked before. */

const minute = 60_000;
const all = parseGrants(['read']);
/** Of the questions below, those about companies and products are not offered to this caller. */
const few = parseGrants(['opportunity:read', 'quote:read']);
const counts = {
  '/company': 5,
  '/contact': 8,
  '/opportunity': 12,
  '/product': 10,
  '/quote': 8,
  '/contract/items': 4,
  '/pricing-book': 2,
  '/quote-discount-group': 2,
  '/category': 2,
} as const;
const changing = ['/company', '/opportunity', '/product', '/quote'] as const;
const resourceOf = {
  '/company': 'company',
  '/opportunity': 'opportunity',
  '/product': 'product',
  '/quote': 'quote',
} as const;

let upstream: Upstream;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  upstream = await startUpstream({ counts });
});

afterEach(async () => {
  vi.useRealTimers();
  for (const close of closers.splice(0).reverse()) await close();
  await upstream.close();
});

function tenantOf(grants: ReadonlySet<Grant>): Tenant {
  // A busy machine must not make a reading incomplete.
  const limits = { attemptMs: 30_000, connectMs: 30_000, maxBytes: 2 ** 22 };
  const tenant = openTenant({ url: upstream.url, grants, limits });
  closers.push(() => tenant.close());
  return tenant;
}

async function clientOf(tenant: Tenant): Promise<Client> {
  const failed = (_: string, error: unknown) => expect(error).toBeUndefined();
  const client = await serve(tenant, { log: { failed } }).connect({ era: 'legacy' });
  closers.push(() => client.close());
  return client;
}

type Question = readonly [name: string, args: Row];
type Data = Record<string, unknown> & { coverage?: { asOf?: string } };

async function ask(client: Client, [name, args]: Question) {
  const result = await client.callTool({ name, arguments: args });
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { text, data: result.structuredContent as Data | undefined };
}

/** Without the time of reading, in which two readings of the same records differ. */
function figuresOf({ text, data }: Awaited<ReturnType<typeof ask>>) {
  const { coverage, ...figures } = data ?? {};
  const { asOf: _, ...covered } = coverage ?? {};
  return { text, figures, covered };
}

const pipeline: Question = ['cpq_brief_pipeline', { by: 'owner' }];

const questions = (): Question[] => [
  pipeline,
  ['cpq_brief_pipeline', { by: 'owner', rows: 1 }],
  ['cpq_brief_pipeline', { sections: ['deals'], show: ['profit'] }],
  ['cpq_brief_pipeline', { outcome: 'closed', period_from: '2000-01-01' }],
  ['cpq_brief_quotes', { by: 'status' }],
  ['cpq_brief_quotes', { by: 'status', from: 1, size: 2 }],
  ['cpq_check_sales_data', { check: 'stale_quotes', days: 1, size: 1 }],
  ['cpq_check_sales_data', { check: 'stale_quotes', days: 1, size: 1, from: 1 }],
  ['cpq_check_sales_data', { check: 'thin_margins', floor: 90 }],
  ['cpq_brief_company', { company: String(upstream.records['/company'][0]?.id) }],
];

interface Change {
  path: (typeof changing)[number];
  at: number;
  amount: number;
  adds: boolean;
}

const change: fc.Arbitrary<Change> = fc.record({
  path: fc.constantFrom(...changing),
  at: fc.nat(100),
  amount: fc.integer({ min: 1, max: 9_999 }),
  adds: fc.boolean(),
});
const step = fc.oneof(
  fc.record({ change }),
  fc.record({ question: fc.constant('one'), restricted: fc.boolean() }),
  fc.record({ question: fc.constant('two'), restricted: fc.constant(false) }),
);

/** Two questions that are asked again and again, while records change. */
const course = fc.record({
  questions: fc.tuple(fc.nat(7), fc.nat(9)),
  steps: fc.array(step, { minLength: 5, maxLength: 8 }),
});

/** Changes a record of the service, or adds one, and reports it as a webhook does. */
function apply(tenant: Tenant, { path, at, amount, adds }: Change): void {
  const rows = upstream.records[path];
  const row = rows[at % rows.length];
  if (adds) rows.push(...generateRecords(path, 1, 1_000 + rows.length));
  else if (row)
    Object.assign(row, {
      onetimeRevenue: amount,
      price: amount,
      name: `renamed ${amount}`,
      updatedAt: new Date().toISOString(),
    });
  tenant.updates.invalidate(resourceOf[path]);
}

test('answers are those of a server that was never asked before, whatever changed in between', async () => {
  await fc.assert(
    fc.asyncProperty(course, async ({ questions: [one, two], steps }) => {
      const whole = tenantOf(all);
      const everyone = { grants: all, asker: await clientOf(whole) };
      const restricted = { grants: few, asker: await clientOf(whole.withGrants(few)) };
      for (const next of steps) {
        if ('change' in next) {
          apply(whole, next.change);
          continue;
        }
        const { grants, asker } = next.restricted ? restricted : everyone;
        const question = questions()[next.question === 'one' ? one : two] ?? pipeline;
        const fresh = await clientOf(tenantOf(grants));
        const expected = figuresOf(await ask(fresh, question));
        expect(figuresOf(await ask(asker, question))).toEqual(expected);
      }
    }),
    { numRuns: quickOrAll(3, 60) },
  );
});

/** For each tool whose answers are kept: a question, and arguments, each of which changes its answer. */
const variations: [tool: string, args: Row, ...others: Row[]][] = [
  ['cpq_brief_pipeline', {}, { by: 'owner' }, { groups: 1 }, { sections: ['deals'] }],
  ['cpq_brief_pipeline', { sections: ['deals'] }, { show: ['profit'] }, { rows: 1 }, { from: 1 }],
  ['cpq_brief_pipeline', { outcome: 'closed' }, { period_from: '2000-01-01' }],
  ['cpq_brief_quotes', { by: 'status' }, { size: 1 }, { from: 1 }, { groups: 1 }, { by: 'owner' }],
  ['cpq_check_sales_data', { check: 'thin_margins' }, { floor: 90 }, { size: 1 }, { from: 1 }],
  ['cpq_check_sales_data', { check: 'stale_quotes' }, { days: 1 }, { open_deals: true }],
];

test('an answer is not that of the same question with another argument', async () => {
  for (const [at, row] of upstream.records['/opportunity'].entries())
    Object.assign(row, { oneTimeProfit: 7, closedAt: at > 8 ? '2025-03-01' : null });
  for (const [tool, args, ...others] of variations) {
    const asker = await clientOf(tenantOf(all));
    const first = figuresOf(await ask(asker, [tool, args]));
    for (const other of others) {
      const question: Question = [tool, { ...args, ...other }];
      const expected = figuresOf(await ask(await clientOf(tenantOf(all)), question));
      expect(expected, JSON.stringify(question)).not.toEqual(first);
      expect(figuresOf(await ask(asker, question)), JSON.stringify(question)).toEqual(expected);
    }
  }
});

test('the same question computes nothing anew, and answers no caller with other grants', async () => {
  const tenant = tenantOf(all);
  const [whole, part] = [await clientOf(tenant), await clientOf(tenant.withGrants(few))];
  const derived = vi.spyOn(tenant.derived, 'get');
  const first = await ask(whole, pipeline);
  const computed = derived.mock.calls.length;
  expect(await ask(whole, pipeline)).toEqual(first);
  // Only the answer, its two collections with names, their fields and their references were looked up.
  expect(derived.mock.calls.length).toBe(computed + 6);
  const restricted = await ask(part, pipeline);
  expect(restricted.text).toContain('Without company records');
  expect(first.text).not.toContain('Without company records');
  expect(await ask(whole, pipeline)).toEqual(first);
});

describe('as time goes by', () => {
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T23:50Z') }),
  );

  test('an answer that was read again is not the old one', async () => {
    const tenant = tenantOf(all);
    const caller = await clientOf(tenant);
    const before = await ask(caller, pipeline);
    upstream.records['/opportunity'].push(...generateRecords('/opportunity', 20, 77));
    vi.setSystemTime(Date.now() + 6 * minute);
    const after = await ask(caller, pipeline);
    expect(after.data?.open).not.toEqual(before.data?.open);
  });

  test('an answer says its age once it is old, and is of the day on which it is given', async () => {
    const caller = await clientOf(tenantOf(all));
    const before = await ask(caller, pipeline);
    expect(before.data?.today).toBe('2026-03-01');
    expect(before.text).not.toContain('as of');
    upstream.set({ status: { code: 503 } });
    vi.setSystemTime(Date.now() + 15 * minute);
    const after = await ask(caller, pipeline);
    expect(after.data?.today).toBe('2026-03-02');
    expect(after.text).toContain('as of');
    expect(after.data?.coverage).toEqual(before.data?.coverage);
  });
});
