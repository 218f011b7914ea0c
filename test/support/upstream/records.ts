import type { Row } from '../hosts.ts';
import { hash, type Random, random } from './random.ts';

/** The twelve list routes below `/public-api`. */
export const resourcePaths = [
  '/company',
  '/contact',
  '/opportunity',
  '/product',
  '/quote',
  '/quote-template',
  '/quote-widget-template',
  '/pricing-book',
  '/category',
  '/category/tree',
  '/quote-discount-group',
  '/contract/items',
] as const;

export type ResourcePath = (typeof resourcePaths)[number];

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of an opportunity that refer to another record, and that a write names as `companyId` or `companyExtId`. */
export const references = ['company', 'contact', 'owner', 'pipelineStage', 'category', 'source'];

/** What a service stores, by its route. */
export type Records = Record<ResourcePath, Row[]>;

/** Which records have an `id`. Records without one still differ in other fields. */
export type Ids = 'all' | 'some' | 'none';

const names = ['Müller & Søn', 'Łódź Systems', 'Café Ñandú', '北京网络', 'Brightwater 💧', 'Acme'];
const people = ['Zoë', 'Bjørn', 'Łukasz', 'Anaïs', '美玲', 'Sam'];
const goods = ['Firewall', 'Switch 48‑port', 'Câble Cat6', 'Backup (cloud)', 'Helpdesk ☎'];
const stages = ['Qualified', 'Proposal', 'Négociation'];

const money = (r: Random) => r.below(500_000) / 100;
const day = (r: Random) => new Date(Date.UTC(2025, 0, 1 + r.below(600))).toISOString().slice(0, 10);
const moment = (r: Random) => new Date(Date.UTC(2025, 0, 1) + r.below(5e10)).toISOString();
const named = (r: Random, words: readonly string[]) => ({ id: r.id(), name: r.pick(words) });
const times = (r: Random) => ({ createdAt: moment(r), updatedAt: moment(r) });

function opportunity(r: Random, i: number): Row {
  return {
    name: `${r.pick(goods)} for ${r.pick(names)} ${i}`,
    description: `They ask for ${1 + r.below(40)} × ${r.pick(goods)}`,
    externalIdentifier: `opp-${i}`,
    company: named(r, names),
    contact: named(r, people),
    pipelineStage: named(r, stages),
    probability: r.below(11) / 10,
    onetimeRevenue: money(r),
    monthlyRevenue: money(r),
    expectedCloseDate: day(r),
    ...times(r),
    customFields: {},
  };
}

function item(r: Random): Row {
  const price = money(r);
  return { ...named(r, goods), quantity: 1 + r.below(9), price, cost: price * 0.8, term: 'month' };
}

function quote(r: Random, i: number): Row {
  return {
    number: `Q-${1000 + i}`,
    title: `${r.pick(goods)} ${i}`,
    status: r.pick(['draft', 'sent', 'approved', 'declined']),
    company: named(r, names),
    contact: named(r, people),
    opportunity: named(r, goods),
    items: Array.from({ length: 1 + r.below(3) }, () => item(r)),
    paymentTerm: named(r, ['30 days', '14 days']),
    ...times(r),
  };
}

const product = (r: Random, i: number): Row => ({
  name: `${r.pick(goods)} ${i}`,
  mpn: `MPN-${i}`,
  manufacturer: r.pick(names),
  productType: r.pick(['product', 'service', 'labor', 'bundle']),
  category: named(r, goods),
  price: money(r),
  cost: money(r),
  externalIdentifier: `prd-${i}`,
  ...times(r),
});

const makers: Record<ResourcePath, (r: Random, i: number) => Row> = {
  '/company': (r, i) => ({
    name: `${r.pick(names)} ${i}`,
    type: r.pick(['prospect', 'customer', 'manufacturer']),
    currency: 'EUR',
    externalIdentifier: `com-${i}`,
    labels: ['north'],
    ...times(r),
  }),
  '/contact': (r, i) => ({
    firstName: r.pick(people),
    lastName: `${r.pick(people)} ${i}`,
    email: `person${i}@example.com`,
    companyId: r.id(),
    externalIdentifier: `con-${i}`,
    ...times(r),
  }),
  '/opportunity': opportunity,
  '/product': product,
  '/quote': quote,
  '/quote-template': (r, i) => ({ name: `Template ${i}`, widgets: [named(r, goods)] }),
  '/quote-widget-template': (r, i) => ({ name: `Widget ${i}`, kind: r.pick(['text', 'items']) }),
  '/pricing-book': (r, i) => ({
    name: `Book ${i} ${r.pick(names)}`,
    specialBidNumber: `SB-${i}`,
    validFrom: '2025-01-01',
    validTo: day(r),
    products: [{ productId: r.id(), price: money(r), cost: money(r) }],
  }),
  '/category': (r, i) => ({ name: `${r.pick(goods)} ${i}`, listed: true, markup: r.below(60) }),
  '/category/tree': (r, i) => ({
    name: `${r.pick(goods)} ${i}`,
    children: Array.from({ length: r.below(3) }, () => ({ ...named(r, goods), children: [] })),
  }),
  '/quote-discount-group': (r, i) => ({
    name: `Group ${i}`,
    discounts: [{ amount: r.below(30) }],
    companyIds: [r.id()],
  }),
  '/contract/items': (r, i) => ({
    service: `${r.pick(goods)} ${i}`,
    vendor: r.pick(names),
    term: '12 months',
    quantity: 1 + r.below(50),
    revenue: money(r),
    profit: money(r),
  }),
};

const documentedIds = (path: ResourcePath): Ids => (path === '/contract/items' ? 'none' : 'all');

/**
 * Small realistic records, the same for the same seed. In the tree every record is a root with its children inside.
 * Contract items have no `id` unless requested, because none is documented.
 */
export function generateRecords(
  path: ResourcePath,
  count: number,
  seed: number,
  ids: Ids = documentedIds(path),
): Row[] {
  const r = random(hash(`${path} ${seed}`));
  return Array.from({ length: count }, (_, i) => {
    const id = r.id();
    const rest = makers[path](r, i);
    return ids === 'all' || (ids === 'some' && i % 3 !== 1) ? { id, ...rest } : rest;
  });
}
