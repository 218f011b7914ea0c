import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, expect, test } from 'vitest';
import { checkNames } from '../../src/briefs/checks/checks.ts';
import { companyBrief } from '../../src/briefs/company/company.ts';
import { pipelineBrief } from '../../src/briefs/pipeline/pipeline.ts';
import { pipelineBy } from '../../src/briefs/pipeline/pipeline-groups.ts';
import { quoteBrief } from '../../src/briefs/quote/quote.ts';
import { tenantDeals } from '../../src/figures/deals.ts';
import { currenciesOf } from '../../src/figures/money.ts';
import { runSteps } from '../../src/figures/steps.ts';
import type { Company, Opportunity, Product, Quote } from '../../src/service/records/records.ts';
import { runCheck } from '../support/run-check.ts';

/** Tokens of the JSON of answers, over a tenant with names as long as real ones. */
const today = '2026-06-15';
const tokens = (told: unknown) => encode(JSON.stringify(told)).length;

let seed = 7;
/** mulberry32 */
function random(below: number): number {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
}
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const id = () => Array.from({ length: 20 }, () => letters[random(letters.length)]).join('');
const dayAt = (offset: number) =>
  new Date(Date.UTC(2026, 5, 15) + offset * 86_400_000).toISOString();
const some = <T>(list: readonly T[]): T => list[random(list.length)] as T;
const many = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));
const nameOf = ({ id, name }: { id?: string; name?: string }) => ({
  ...(id && { id }),
  ...(name && { name }),
});

let companies: Company[];
let opportunities: Opportunity[];
let products: Product[];
let quotes: Quote[];

beforeAll(() => {
  companies = many(120, (at) => ({
    id: id(),
    name: `Merrimack ${at} Community Health`,
    currency: at % 8 === 0 ? 'CAD' : 'USD',
  }));
  const stages = ['New enquiry', 'Discovery', 'Solution design', 'Proposal out', 'Verbal yes'].map(
    (name) => ({ id: id(), name }),
  );
  const owners = many(9, (at) => ({ id: id(), name: `Patricia Castellano ${at}` }));
  opportunities = many(1_000, (at) => ({
    id: id(),
    name: `Managed endpoint onboarding, ${at} devices`,
    company: nameOf(some(companies)),
    owner: some(owners),
    pipelineStage: some(stages),
    probability: random(21) / 20,
    onetimeRevenue: random(10_000_000) / 100,
    monthlyRevenue: random(100_000) / 100,
    valueMonths: 36,
    createdAt: dayAt(-random(400)),
    updatedAt: dayAt(-random(60)),
    stageUpdatedAt: dayAt(-random(200)),
    expectedCloseDate: dayAt(random(200) - 60).slice(0, 10),
    ...(random(4) === 0 && { closedAt: dayAt(-random(120)), statusId: some(['won', 'lost', 'x']) }),
  }));
  const categories = many(30, (at) => ({ id: id(), name: `Category ${at}` }));
  products = many(5_000, (at) => ({
    id: id(),
    name: `Aruba Networking 2930F ${at} 48-port switch`,
    mpn: `JL${at % 4_900}-A`,
    manufacturer: 'Hewlett Packard Enterprise',
    category: some(categories),
    cost: 100 + random(90_000) / 100,
    price: 90 + random(100_000) / 100,
    ...(random(20) === 0 && { listed: false }),
  }));
  quotes = many(1_000, (at) => ({
    id: id(),
    number: `Q-2026-${at}`,
    title: `Conference room and server refresh ${at}`,
    status: some(['draft', 'sent', 'approved', 'declined', 'expired']),
    company: nameOf(some(companies)),
    createdAt: dayAt(-random(300)),
    sentAt: dayAt(-random(90)),
    expiresAt: dayAt(random(90) - 30),
    items: many(8, () => {
      const sold = some(products);
      return {
        ...nameOf(sold),
        product: nameOf(sold),
        quantity: 1 + random(20),
        price: sold.price ?? 0,
        cost: sold.cost ?? 0,
        term: some(['', 'month', 'year']),
      };
    }),
  }));
});

test.each(pipelineBy)('the pipeline of 1,000 opportunities by %s stays in its budget', (by) => {
  const brief = runSteps(
    pipelineBrief(runSteps(tenantDeals(opportunities, currenciesOf(companies))), { today, by }),
  );
  expect(brief.open.count).toBeGreaterThan(700);
  // Asked every day by stage, which has few groups; by company there are 24.
  expect(tokens(brief)).toBeLessThan(by === 'stage' ? 1_450 : 2_500);
});

test('the quotes of one company with totals stay under 1,500 tokens', () => {
  const company = companies[3] ?? {};
  const options = { today, currencyOf: currenciesOf(companies), maxRows: 5, show: [] };
  const brief = runSteps(companyBrief({ company, quotes }, options));
  expect(brief.quotes?.total).toBeGreaterThan(5);
  expect(tokens(brief)).toBeLessThan(1_500);
});

test('one company whole stays under 2,500 tokens', () => {
  const company = companies[3] ?? {};
  const records = { company, opportunities, quotes, contacts: [], pricingBooks: [] };
  const currencyOf = currenciesOf(companies);
  const options = { today, currencyOf, maxRows: 5, show: [] };
  const brief = runSteps(companyBrief(records, options));
  expect(brief.quotes?.total).toBeGreaterThan(5);
  expect(tokens(brief)).toBeLessThan(2_500);
});

test('one quote stays under 2,500 tokens', () => {
  const [quote = {}] = quotes;
  const brief = quoteBrief({ quote, products }, { today, currencyOf: currenciesOf(companies) });
  expect(brief.lines.total).toBe(8);
  expect(tokens(brief)).toBeLessThan(2_500);
});

test('5,000 products below cost stay under 2,000 tokens', () => {
  const report = runCheck('below_cost', { product: products }, { today });
  expect(report.total).toBeGreaterThan(1_000);
  expect(tokens(report)).toBeLessThan(2_000);
});

test.each(checkNames)('%s stays under 2,000 tokens', (name) => {
  const contacts = many(600, (at) => ({
    id: id(),
    firstName: 'Siobhán',
    lastName: `Fitzgerald ${at}`,
    email: `siobhan.fitzgerald${at % 300}@customer.example`,
  }));
  const books = many(9, (at) => ({
    id: id(),
    name: `Partner prices ${at}`,
    products: products.slice(0, 200).map((product) => ({ productId: product.id ?? '', price: 1 })),
  }));
  const owners = many(9, (at) => ({ id: id(), name: `Account manager ${at}` }));
  const closed = many(60, () => ({ ...nameOf(some(opportunities)), id: id(), statusId: 'lost' }));
  const contracts = many(60, () => ({
    id: id(),
    service: some(products).name ?? '',
    company: nameOf(some(companies)),
    endDate: dayAt(random(60)),
    quantity: 5,
    revenue: random(5_000),
  }));
  const report = runCheck(
    name,
    {
      company: companies,
      contact: contacts,
      opportunity: [
        ...closed,
        ...opportunities.map(({ expectedCloseDate: _none, ...rest }) => rest),
      ],
      product: products,
      quote: quotes.map((quote, at) => ({
        ...quote,
        ...(name === 'zero_prices' && { items: [{ name: 'Gift', quantity: 1, price: 0 }] }),
        number: `Q-2026-${1000 + at}`,
        owner: some(owners),
        opportunity: some(closed),
      })),
      pricing_book: books,
      contract_item: contracts,
    },
    { today, currencyOf: currenciesOf(companies) },
  );
  expect(report.shown).toBe(15);
  expect(tokens(report)).toBeLessThan(2_000);
});
