import { expect, test } from 'vitest';
import { type CompanyOptions, companyBrief } from '../../src/briefs/company/company.ts';
import { runSteps } from '../../src/figures/steps.ts';
import type { Company, ContractItem, RecordLists } from '../../src/service/records/records.ts';

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

test('tells the scale of probabilities also of a single deal, and of none nothing', () => {
  const opportunity = [{ id: 'a', company: own, probability: 50, onetimeRevenue: 100 }];
  expect(brief({ opportunity }).probability?.scale).toBe('0-100');
  expect(brief({ opportunity: [] })).not.toHaveProperty('probability');
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

test('takes the currency of the company for contract items that only name it', () => {
  const contract_item = [{ company: { name: 'Acme' }, revenue: 5 }];
  const { byState } = brief({ contract_item }).contractItems ?? {};
  expect(byState).toMatchObject([{ currency: 'EUR', revenue: { oneTime: 5 } }]);
});

test('pauses often over many contract items', () => {
  const contract_item = Array.from({ length: 1_000 }, (): ContractItem => ({ company: other }));
  const pausesWith = (records: RecordLists) =>
    [...companyBrief(acme, records, { today, currencyOf, ...lists })].length;
  expect(pausesWith({ contract_item }) - pausesWith({})).toBe(1_000 / 50);
});
