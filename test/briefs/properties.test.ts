import { expect, test } from 'vitest';
import { checkNames } from '../../src/briefs/checks/checks.ts';
import { companyBrief } from '../../src/briefs/company/company.ts';
import {
  pipelineBrief as briefSteps,
  type PipelineOptions,
} from '../../src/briefs/pipeline/pipeline.ts';
import { pipelineBy } from '../../src/briefs/pipeline/pipeline-groups.ts';
import { quoteBrief } from '../../src/briefs/quote/quote.ts';
import { quotesBy } from '../../src/briefs/quotes/quotes.ts';
import { tenantDeals } from '../../src/figures/deals.ts';
import { quoteTotals } from '../../src/figures/quote-totals.ts';
import { runSteps } from '../../src/figures/steps.ts';
import type {
  Company,
  Contact,
  ContractItem,
  DiscountGroup,
  Opportunity,
  PricingBook,
  Product,
  Quote,
} from '../../src/service/records/records.ts';
import fc from '../support/fast-check.ts';
import { pipelineOptions } from '../support/pipeline-options.ts';
import { reportOnQuotes, runCheck } from '../support/run-briefs.ts';
import { quickOrAll } from '../support/sampling.ts';

/**
 * Properties of briefs that hold for any records. Any field of any record may be missing; names repeat on purpose,
 * and every record is frozen, so that a brief that changes its input throws.
 */
const today = '2026-06-15';
const currencyOf = new Map([
  ['c0', 'EUR'],
  ['c1', 'USD'],
]);
const options = { today, currencyOf };
const ofOneQuote = { ...options, discountLimit: 20, maxLines: 25 };
const pipelineBrief = (opportunities: readonly Opportunity[], more: Partial<PipelineOptions>) =>
  runSteps(
    briefSteps(runSteps(tenantDeals(opportunities, currencyOf)), { ...pipelineOptions, ...more }),
  );

const cents = fc.integer({ min: -5_000, max: 9_999_999 }).map((amount) => amount / 100);
const name = fc.constantFrom('Alpha', 'alpha', 'Beta', 'Gamma', ' ', 'Ünïcode "quoted"');
const day = fc.constantFrom(
  '2026-06-14',
  '2026-06-15',
  '2026-06-16T10:00:00Z',
  '2026-05-16',
  '2026-01-31T23:59:59+02:00',
  '2020-02-29',
  '2027-01-01',
  'soon',
  '',
);
const ref = (prefix: string) =>
  fc.record(
    { id: fc.integer({ min: 0, max: 3 }).map((at) => `${prefix}${at}`), name },
    { requiredKeys: [] },
  );
const partial = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;

const opportunity = partial({
  name,
  company: ref('c'),
  contact: ref('k'),
  owner: ref('u'),
  pipelineStage: fc.record(
    { id: fc.constantFrom('s0', 's1'), name: fc.constantFrom('Offer', 'Won', 'Lost') },
    { requiredKeys: [] },
  ),
  category: ref('g'),
  source: ref('w'),
  statusId: fc.constantFrom('open', 'WON', 'lost', 'closed', 'x'),
  probability: fc.constantFrom(0, 0.25, 1, 50, 100, 250, -1),
  onetimeRevenue: cents,
  monthlyRevenue: cents,
  valueMonths: fc.constantFrom(0, 12, 36),
  createdAt: day,
  updatedAt: day,
  stageUpdatedAt: day,
  expectedCloseDate: day,
  closedAt: day,
  deletedAt: fc.constantFrom('', '', '2026-01-01'),
}) as fc.Arbitrary<Opportunity>;

const item = partial({
  name,
  mpn: fc.constantFrom('A-1', 'a1', 'B2'),
  manufacturer: fc.constantFrom('Maker', 'MAKER'),
  category: ref('g'),
  product: ref('p'),
  quantity: fc.constantFrom(0, 1, 2.5, 12),
  price: cents,
  cost: cents,
  discount: fc.constantFrom(0, 10, 33.3, 100),
  setupPrice: cents,
  setupCost: cents,
  term: fc.constantFrom('', 'month', 'year', 'quarter', 'one-time'),
});

const quote = partial({
  title: name,
  number: fc.constantFrom('Q-1', 'Q-2'),
  status: fc.constantFrom('draft', 'sent', 'approved', 'declined', 'expired', 'in review', ''),
  company: ref('c'),
  contact: ref('k'),
  owner: ref('u'),
  opportunity: ref('o'),
  createdAt: day,
  sentAt: day,
  approvedAt: day,
  expiresAt: day,
  deletedAt: fc.constantFrom('', '', '2026-01-01'),
  items: fc.array(item, { maxLength: 4 }),
  discount: partial({
    type: fc.constantFrom('percent', 'amount', 'odd'),
    amount: fc.constantFrom(0, 5, 12.5),
  }),
}) as fc.Arbitrary<Quote>;

const product = partial({
  name,
  mpn: fc.constantFrom('A-1', 'a1', 'B2', '-'),
  manufacturer: fc.constantFrom('Maker', 'MAKER', ''),
  listed: fc.boolean(),
  category: ref('g'),
  bundleItems: fc.array(
    partial({ productId: fc.constantFrom('p0', 'p1', 'p2'), quantity: fc.constantFrom(1, 2.5) }),
    { maxLength: 2 },
  ),
  price: cents,
  cost: cents,
  term: fc.constantFrom('', 'month'),
}) as fc.Arbitrary<Product>;

const contact = partial({
  firstName: name,
  lastName: name,
  email: fc.constantFrom('', 'a@b.c', 'none'),
  companyId: fc.constantFrom('c0', 'c1'),
  companyName: name,
  createdAt: day,
}) as fc.Arbitrary<Contact>;

const mapped = {
  name,
  companyIds: fc.constantFrom<string[]>([], ['c0'], ['c1', 'c2']),
  classificationIds: fc.constantFrom<string[]>([], ['gold']),
};
const book = partial({
  ...mapped,
  validFrom: day,
  validTo: day,
  products: fc.array(
    partial({ productId: fc.constantFrom('p0', 'p1'), price: cents, validFrom: day, validTo: day }),
    { maxLength: 3 },
  ),
}) as fc.Arbitrary<PricingBook>;
const group = partial(mapped) as fc.Arbitrary<DiscountGroup>;
const contractItem = partial({
  service: name,
  term: fc.constantFrom('month', 'year', ''),
  quantity: fc.constantFrom(1, 3),
  revenue: cents,
  profit: cents,
  company: ref('c'),
  endDate: day,
}) as fc.Arbitrary<ContractItem>;

/** Each record of a collection has its own id, made from its position. */
const collection = <T extends { id?: string }>(
  prefix: string,
  one: fc.Arbitrary<T>,
  maxLength = 12,
) =>
  fc
    .array(one, { maxLength })
    .map((records) =>
      frozen(records.map((record, at): T => ({ ...record, id: `${prefix}${at}` }))),
    );

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

const opportunities = collection('o', opportunity, 20);
const tenant = fc.record({
  opportunities,
  quotes: collection('q', quote),
  products: collection('p', product),
  contacts: collection('k', contact),
  pricingBooks: collection('b', book, 5),
  discountGroups: collection('d', group, 5),
  contractItems: collection('i', contractItem, 6),
});
type Tenant = typeof tenant extends fc.Arbitrary<infer T> ? T : never;

const company: Company = frozen({ id: 'c0', name: 'Alpha', currency: 'EUR' });
const wholeCompany = (records: Tenant) =>
  runSteps(companyBrief(company, dataOf(records), { ...options, maxRows: 5, show: [] }));
const dataOf = (records: Tenant) => ({
  company: [company],
  contact: records.contacts,
  opportunity: records.opportunities,
  product: records.products,
  quote: records.quotes,
  pricing_book: records.pricingBooks,
  discount_group: records.discountGroups,
  contract_item: records.contractItems,
});
const everything = (records: Tenant) => ({
  pipelines: pipelineBy.map((by) =>
    pipelineBrief(records.opportunities, { ...options, by, maxGroups: 2 }),
  ),
  company: wholeCompany(records),
  quotes: records.quotes
    .map((each) =>
      quoteBrief(
        { quote: each, company, books: records.pricingBooks, products: records.products },
        ofOneQuote,
      ),
    )
    .toSorted((a, b) => ((a.id ?? '') < (b.id ?? '') ? -1 : 1)),
  checks: checkNames.map((check) => runCheck(check, dataOf(records), options)),
});

/** The same records in another order; nested lists keep theirs. */
const shuffled = (records: Tenant, seed: number): Tenant =>
  frozen(
    Object.fromEntries(
      Object.entries(records).map(([kind, list]) => [
        kind,
        [...list].sort((a, b) => mixed(a.id, seed) - mixed(b.id, seed)),
      ]),
    ),
  ) as Tenant;

function mixed(id: string | undefined, seed: number): number {
  let hash = seed | 1;
  for (const letter of id ?? '') hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}

test('does not depend on the order of records', () => {
  fc.assert(
    fc.property(tenant, fc.integer(), (records, seed) => {
      expect(everything(shuffled(records, seed))).toStrictEqual(everything(records));
    }),
    { numRuns: quickOrAll(30, 200) },
  );
});

test('returns only JSON values, and nothing empty, whatever is missing', () => {
  fc.assert(
    fc.property(tenant, (records) => {
      const told = everything(records);
      expect(JSON.parse(JSON.stringify(told))).toStrictEqual(told);
      expect(JSON.stringify(told)).not.toMatch(/null|NaN|undefined|:""/);
    }),
    { numRuns: quickOrAll(30, 200) },
  );
});

/** Amounts in integer cents, so that a test of sums does not use the arithmetic it tests. */
const inCents = (amount: number | undefined) => Math.round((amount ?? 0) * 100);

function sumOf(rows: readonly object[], field: string, currency: string): number {
  const amounts = rows.map((row) => (row as Record<string, Record<string, number>>)[field]);
  return amounts.reduce((sum, amount) => sum + inCents(amount?.[currency]), 0);
}

test('has the same sums for every grouping, folded or not', () => {
  fc.assert(
    fc.property(opportunities, fc.integer({ min: 1, max: 4 }), (records, maxGroups) => {
      const { open } = pipelineBrief(records, options);
      for (const by of pipelineBy) {
        const { rows, total } = pipelineBrief(records, { ...options, by, maxGroups }).groups;
        expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(open.count);
        expect(rows.reduce((sum, row) => sum + (row.groups ?? 1), 0)).toBe(total);
        for (const currency of ['EUR', 'USD', 'unknown currency']) {
          for (const field of ['value', 'oneTime', 'monthly'] as const) {
            expect(sumOf(rows, field, currency)).toBe(inCents(open[field]?.[currency]));
          }
          // Each group is rounded: its weighted value may be half a cent off.
          const weighted = sumOf(rows, 'weightedValue', currency);
          const difference = weighted - inCents(open.weightedValue?.[currency]);
          expect(Math.abs(difference)).toBeLessThanOrEqual(Math.ceil(rows.length / 2));
        }
      }
    }),
  );
});

test('counts a deal of unknown revenue without changing a sum', () => {
  fc.assert(
    fc.property(opportunities, (records) => {
      const unknown = {
        id: 'new',
        name: 'New',
        pipelineStage: { id: 's0', name: 'Offer' },
        probability: 0.25,
      };
      const before = pipelineBrief([...records, { probability: 0.25, deletedAt: today }], options);
      const after = pipelineBrief([...records, unknown], options);
      const { countByCurrency: _after, ...figures } = after.open;
      const { countByCurrency: _before, count, ...known } = before.open;
      expect(figures).toStrictEqual({ ...known, count: count + 1 });
      expect(after.unknown?.revenue).toBe((before.unknown?.revenue ?? 0) + 1);
      expect(after.closed).toStrictEqual(before.closed);
    }),
  );
});

test('counts an item of unknown price without changing a total', () => {
  fc.assert(
    fc.property(quote, (before) => {
      const after = { ...before, items: [...(before.items ?? []), { quantity: 3, term: 'month' }] };
      const { items, unknownPrices = 0, ...totals } = quoteTotals(before);
      expect(quoteTotals(after)).toStrictEqual({
        ...totals,
        items: (items ?? 0) + 1,
        unknownPrices: unknownPrices + 1,
      });
    }),
  );
});

test('doubles every total when each item is repeated', () => {
  fc.assert(
    fc.property(quote, (once) => {
      const { discount: _discount, ...plain } = once;
      const twice = { ...plain, items: [...(once.items ?? []), ...(once.items ?? [])] };
      for (const term of ['oneTime', 'monthly', 'yearly'] as const) {
        const [single, double] = [quoteTotals(plain)[term], quoteTotals(twice)[term]];
        expect(double === undefined).toBe(single === undefined);
        // Rounding may lose up to half a cent in each of the two.
        expect(Math.abs(inCents(double) - 2 * inCents(single))).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test('does not change the brief of a company when another company changes', () => {
  fc.assert(
    fc.property(tenant, quote, opportunity, (records, theirQuote, theirDeal) => {
      const other = { id: 'c9', name: 'Elsewhere' };
      const { probability: _scale, ...deal } = theirDeal;
      const more = {
        ...records,
        quotes: [...records.quotes, { ...theirQuote, id: 'q99', company: other, items: [] }],
        opportunities: [...records.opportunities, { ...deal, id: 'o99', company: other }],
      };
      expect(wholeCompany(more)).toStrictEqual(wholeCompany(records));
    }),
  );
});

test('finds the same and more with a stricter limit', () => {
  fc.assert(
    fc.property(tenant, fc.integer({ min: 0, max: 60 }), (records, least) => {
      const found = (check: (typeof checkNames)[number], more: object) =>
        runCheck(check, dataOf(records), { ...options, maxRows: 99, ...more }).rows.map(
          ({ id }) => id,
        );
      const asks = [
        ['thin_margins', { floor: least }, { floor: least + 10 }],
        ['stale_quotes', { days: least + 10 }, { days: least }],
        ['expiring_quotes', { days: least }, { days: least + 10 }],
        ['pricing_drift', { tolerance: least + 10 }, { tolerance: least }],
        ['stalled_opportunities', { days: least + 10 }, { days: least }],
      ] as const;
      for (const [check, less, more] of asks) {
        expect(found(check, more)).toEqual(expect.arrayContaining(found(check, less)));
      }
    }),
  );
});

test('counts every finding of a check once in each respect, and pages through all of them', () => {
  fc.assert(
    fc.property(tenant, fc.integer({ min: 1, max: 4 }), (records, maxRows) => {
      for (const check of checkNames) {
        const whole = runCheck(check, dataOf(records), { ...options, maxRows: 99 });
        const { counts = [] } = whole;
        for (const { count } of counts) expect(count).toBeLessThanOrEqual(whole.total);
        const kinds = new Set(counts.map(({ by }) => by));
        for (const by of kinds) {
          const rows = counts.filter((row) => row.by === by);
          const sum = rows.reduce((all, { count }) => all + count, 0);
          expect(sum).toBeLessThanOrEqual(whole.total);
          if (by === 'acceptance')
            expect(sum).toBe(whole.rows.filter(({ deal, status }) => deal || status).length);
        }
        const paged: unknown[] = [];
        for (let from: number | undefined = 0; from !== undefined; ) {
          const page = runCheck(check, dataOf(records), { ...options, maxRows, from });
          paged.push(...page.rows);
          from = page.next;
        }
        expect(paged).toStrictEqual(whole.rows);
      }
    }),
    { numRuns: 30 },
  );
});

test('quotes come to the same by whatever they are grouped, merged or not', () => {
  fc.assert(
    fc.property(tenant, fc.integer({ min: 1, max: 3 }), ({ quotes, opportunities }, maxGroups) => {
      // By product and category a quote counts in every group of its lines.
      const ofQuotes = quotesBy.filter((by) => by !== 'product' && by !== 'category');
      for (const by of ofQuotes) {
        const asked = { ...options, date: 'sent', by, maxGroups } as const;
        const report = runSteps(reportOnQuotes(quotes, opportunities, asked));
        const { total, groups, acceptance } = report.brief;
        const counted = (rows: readonly { count: number }[]) =>
          rows.reduce((sum, { count }) => sum + count, 0);
        expect([counted(groups.rows), counted(acceptance), report.count]).toEqual([
          total.count,
          total.count,
          total.count,
        ]);
        expect(groups.rows.reduce((sum, row) => sum + (row.groups ?? 1), 0)).toBe(groups.total);
        for (const field of ['oneTime', 'monthly', 'yearly', 'firstYearValue'] as const) {
          for (const currency of ['EUR', 'USD', 'unknown currency']) {
            const difference =
              sumOf(groups.rows, field, currency) - inCents(total[field]?.[currency]);
            expect(Math.abs(difference)).toBeLessThanOrEqual(groups.rows.length);
          }
        }
        expect(report.rows(0, 99)).toHaveLength(total.count);
      }
    }),
    { numRuns: 40 },
  );
});

test('a quote earns its prices less its costs, and has a margin only where the price is above 0', () => {
  fc.assert(
    fc.property(quote, (each) => {
      const { terms, lines } = quoteBrief({ quote: each }, ofOneQuote);
      for (const { price, cost, profit, margin, withoutPriceOrCost = 0 } of terms) {
        expect([price, cost, profit].filter((it) => it === undefined).length % 3).toBe(0);
        expect(price !== undefined || withoutPriceOrCost > 0).toBe(true);
        // A price under half a cent is shown as 0.
        if (price !== 0) expect(margin === undefined).toBe((price ?? -1) < 0);
        // Each of the three figures was rounded separately.
        const difference = inCents(price) - inCents(cost) - inCents(profit);
        expect(Math.abs(difference)).toBeLessThanOrEqual(1);
      }
      const priced = lines.rows.filter(({ margin }) => margin !== undefined);
      for (const { price = 0 } of priced) expect(price).toBeGreaterThan(0);
    }),
  );
});
