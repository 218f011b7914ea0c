import { expect, test } from 'vitest';
import { type CompanyOptions, companyBrief } from '../../src/briefs/company/company.ts';
import { runSteps } from '../../src/figures/steps.ts';
import type {
  Company,
  Contact,
  ContractItem,
  Opportunity,
  Quote,
  RecordLists,
} from '../../src/service/records/records.ts';

const today = '2026-06-15';
const acme: Company = { id: 'acme', name: 'Acme', currency: 'EUR', createdAt: '2020-01-01' };
const currencyOf = new Map([['acme', 'EUR']]);
const lists = { maxRows: 5, show: [] };
const brief = (records: RecordLists, options: Partial<CompanyOptions> = {}, company = acme) =>
  runSteps(companyBrief(company, records, { today, currencyOf, ...lists, ...options }));

const own = { id: 'acme', name: 'Acme' };
const other = { id: 'other', name: 'Other' };

test('shows no labels of a company that has none', () => {
  expect(brief({}, {}, { ...acme, labels: [] }).company).not.toHaveProperty('labels');
});

test('matches records by id, and by name only where they have no id', () => {
  const contact = [
    { id: '1', firstName: 'Zoe', companyId: 'acme', phone: '1', mobilePhone: '2' },
    { id: '7', firstName: 'Ben', email: 'b@x.org', companyId: 'acme', mobilePhone: '3' },
    { id: '2', firstName: 'Anna', lastName: 'Berg', email: 'a@x.org', companyName: ' ACME ' },
    { id: '3', firstName: 'Wrong', companyId: 'other', companyName: 'Acme' },
    { id: '4', firstName: 'Gone', companyId: 'acme', deleted: '2026-01-01' },
    { id: '5', firstName: 'Nobody' },
    { id: '6', firstName: 'Elsewhere', companyName: 'Other' },
  ];
  expect(brief({ contact }).contacts).toStrictEqual({
    withoutEmail: 1,
    shown: 3,
    total: 3,
    rows: [
      { id: '2', name: 'Anna Berg', email: 'a@x.org' },
      { id: '7', name: 'Ben', email: 'b@x.org', phone: '3' },
      { id: '1', name: 'Zoe', phone: '1' },
    ],
  });
});

test('reports open and closed deals, weighted on the tenant’s probability scale', () => {
  const opportunity = [
    { id: 'a', name: 'A', company: own, probability: 1, onetimeRevenue: 100, createdAt: today },
    { id: 'b', name: 'B', company: own, monthlyRevenue: 5, expectedCloseDate: '2026-06-14' },
    { id: 'c', name: 'A credit', company: own, onetimeRevenue: -1, expectedCloseDate: today },
    { id: 'n', name: 'A new one', company: own },
    { id: 'w', company: own, closedAt: '2019-01-01', statusId: 'won', onetimeRevenue: 30 },
    { id: 'l', company: own, closedAt: '2019-01-01', statusId: 'lost' },
    { id: 'u', company: own, closedAt: '2019-01-01' },
    { id: 'x', company: other, probability: 50, onetimeRevenue: 999 },
    { id: 'd', company: own, deletedAt: '2026-01-01', onetimeRevenue: 999 },
  ];
  const { open, closed, probability } = brief({ opportunity });
  expect(open).toStrictEqual({
    value: { EUR: 159 },
    weightedValue: { EUR: 1 },
    oneTime: { EUR: 99 },
    monthly: { EUR: 5 },
    overdue: 1,
    unknown: { revenue: 1, probability: 3, valueMonths: 1 },
    shown: 4,
    total: 4,
    rows: [
      { id: 'a', name: 'A', value: 100, currency: 'EUR' },
      { id: 'b', name: 'B', value: 60, currency: 'EUR', closes: '2026-06-14' },
      { id: 'c', name: 'A credit', value: -1, currency: 'EUR', closes: today },
      { id: 'n', name: 'A new one' },
    ],
  });
  expect(closed).toStrictEqual({
    won: { count: 1, value: { EUR: 30 } },
    lost: { count: 1, withoutValue: 1 },
    outcomeUnknown: { count: 1, withoutValue: 1 },
  });
  expect(probability?.scale).toBe('0-100');
  // Of a part of the opportunities: the scale of all.
  const part = brief({ opportunity: opportunity.slice(0, 1) }, { probability: { scale: '0-100' } });
  expect(part.open?.weightedValue).toEqual({ EUR: 1 });
  expect(brief({ opportunity: opportunity.slice(0, 2) })).not.toHaveProperty('closed');
  const wonOnly = brief({ opportunity: opportunity.filter(({ id }) => id === 'w') });
  expect(wonOnly.closed).toStrictEqual({ won: { count: 1, value: { EUR: 30 } } });
  expect(wonOnly.probability?.scale).toBe('unknown');
  expect(brief({ opportunity: [] })).not.toHaveProperty('probability');
});

test('shows the newest event of each record in 30 days; of two on one day, the later in its life', () => {
  const [first, before] = ['2026-05-16', '2026-05-15'];
  const opportunity: [string, Opportunity][] = [
    ['created', { createdAt: today, updatedAt: today }],
    ['created', { createdAt: first, updatedAt: today }],
    ['updated', { createdAt: before, updatedAt: first }],
    ['stage changed', { createdAt: today, stageUpdatedAt: today }],
    ['won', { stageUpdatedAt: today, closedAt: today, statusId: 'won' }],
    ['closed', { closedAt: today }],
    ['closed', { closedAt: today, statusId: 'open' }],
    ['stage changed', { stageUpdatedAt: first, closedAt: '2026-06-16' }],
    ['', { createdAt: '2026-06-16', updatedAt: before }],
  ];
  const times = ['createdAt', 'sentAt', 'approvedAt', 'declinedAt', 'expiredAt'];
  const told = ['created', 'sent', 'approved', 'declined', 'expired'];
  const quote = told.map((what, at): [string, Quote] => [
    what,
    Object.fromEntries(times.slice(0, at + 1).map((time) => [time, today])),
  ]);
  const contact: [string, Contact][] = [
    ['created', { createdAt: first }],
    ['updated', { updatedAt: today }],
  ];
  const named = <T extends object>(records: [string, T][]) =>
    records.map(([id, record], at) => ({
      ...record,
      id: `${at} ${id}`,
      company: own,
      companyId: 'acme',
    }));
  const data = { contact: named(contact), opportunity: named(opportunity), quote: named(quote) };
  const { recentActivity } = brief(data, { maxRows: 99 }, { ...acme, updatedAt: first });
  expect(recentActivity).toMatchObject({ from: first, to: today, total: 16 });
  const { rows } = recentActivity;
  const days = rows.map(({ day }) => day);
  expect(days).toEqual(days.toSorted().reverse());
  for (const { id = '', what, kind } of rows)
    expect(what, id).toBe(kind === 'company' ? 'updated' : id.slice(2));
});

test('lists open quotes first, and those of no known day by name', () => {
  const quoteOf = (id: string, status: string, expiresAt = '2026-06-14') => {
    return { id, status, expiresAt, company: own };
  };
  const quote = [
    quoteOf('over', 'sent'),
    quoteOf('today', 'sent', today),
    quoteOf('endless', 'sent', ''),
    quoteOf('marked', 'expired', ''),
    quoteOf('draft', 'draft'),
  ];
  const rows = brief({ quote }).quotes?.rows ?? [];
  expect(rows.map(({ id }) => id)).toEqual(['draft', 'endless', 'today', 'marked', 'over']);
});

test('shows of contract items and pricing books what the records say', () => {
  const { contractItems, pricingBooks } = brief({
    contract_item: [
      { id: '1', service: 'Antivirus', term: 'month', revenue: 1.005, company: own },
      { id: '4', service: 'Free', term: 'month', revenue: 0, company: own },
      { id: '5', service: 'Unknown', company: own, endDate: today },
      { id: '2', service: 'Whose', term: 'month', revenue: 99 },
      { id: '3', service: 'Gone', term: 'month', revenue: 9, deletedAt: '2026-01-02T10:00:00Z' },
    ],
    pricing_book: [
      { id: 'b1', name: 'Everyone', products: [{ productId: 'p' }] },
      { id: 'b2', name: 'Ours', companyIds: ['acme'], specialBidNumber: 'SB-1', validTo: today },
      { id: 'b3', name: 'Gold', classificationIds: ['gold'], validFrom: '2026-01-01T00:00:00Z' },
    ],
  });
  expect(contractItems).toMatchObject({ beta: true, withoutCompany: 1 });
  const sums = { count: 3, revenue: { monthly: 1.01 }, unknownRevenue: 1, withoutEnd: 2 };
  expect(contractItems?.byState).toStrictEqual([{ state: 'running', currency: 'EUR', ...sums }]);
  const item = { id: '1', service: 'Antivirus', state: 'running', term: 'monthly' };
  expect(contractItems?.rows[0]).toStrictEqual({ ...item, revenue: 1.01, currency: 'EUR' });
  expect(pricingBooks?.rows).toStrictEqual([
    { id: 'b2', name: 'Ours', appliesTo: 'company', specialBidNumber: 'SB-1', validTo: today },
    { id: 'b1', name: 'Everyone', appliesTo: 'everyone', products: 1 },
    {
      ...{ id: 'b3', name: 'Gold', appliesTo: 'unclear' },
      ...{ validFrom: '2026-01-01', classificationIds: ['gold'] },
    },
  ]);
});

test('pauses often over many contract items', () => {
  const contract_item = Array.from({ length: 1_000 }, (): ContractItem => ({ company: other }));
  const pausesWith = (records: RecordLists) =>
    [...companyBrief(acme, records, { today, currencyOf, ...lists })].length;
  expect(pausesWith({ contract_item }) - pausesWith({})).toBe(1_000 / 50);
});
