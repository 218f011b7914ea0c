import { expect, test } from 'vitest';
import { type Known, nothingKnown } from '../../src/lists/columns.ts';
import { concise, fullRecord, rowOf } from '../../src/lists/concise.ts';
import type { ApiRecord, Resource } from '../../src/service/records/records.ts';
import type { JsonObject } from '../../src/values.ts';

const names = new Map([
  ['company acme', 'Acme'],
  ['person u1', 'Ada'],
]);
const known: Known = {
  currencyOf: new Map([['acme', 'EUR']]),
  nameOf: (kind, id) => names.get(`${kind} ${id}`),
};

const selectFields = (
  resource: Resource,
  record: ApiRecord,
  fields: readonly string[],
  by: Known = nothingKnown,
): JsonObject => rowOf(resource, record, { detail: 'concise', fields }, by);

const withKeys = (resource: Resource, record: ApiRecord, keys: readonly string[]): JsonObject =>
  rowOf(resource, record, { detail: 'concise' }, known, keys);

test('a pricing book names up to five companies, and how many more', () => {
  const assigned = (count: number) =>
    concise(
      'pricing_book',
      { companyIds: ['acme', 'b', 'c', 'd', 'e', 'f'].slice(0, count) },
      known,
    );
  expect(assigned(0)).toEqual({ for: ['everyone'] });
  expect(assigned(5)).toEqual({ for: ['Acme', 'b', 'c', 'd', 'e'] });
  expect(assigned(6)).toEqual({ for: ['Acme', 'b', 'c', 'd', 'e', '1 more'] });
  expect(concise('discount_group', { classificationIds: ['gold'] })).toEqual({
    for: ['classificationId gold'],
  });
  expect(concise('discount_group', {})).toEqual({ for: ['nobody'] });
  const asked = (companyIds: string[]) =>
    selectFields('pricing_book', { companyIds }, ['for'], known).for;
  expect(asked(['acme', 'b', 'c', 'd', 'e', 'f'])).toEqual(['Acme', 'b', 'c', 'd', 'e', 'f']);
  expect(asked([])).toEqual(['everyone']);
});

test('selected fields bring the name of the record, and values that lists leave out', () => {
  const ada = { id: 'c', firstName: 'Ada', lastName: 'King', email: 'ada@x.org' };
  expect(selectFields('contact', ada, ['email'])).toEqual({
    id: 'c',
    name: 'Ada King',
    email: 'ada@x.org',
  });
  expect(selectFields('quote', { id: 'q', name: 'Offer' }, ['status'])).toEqual({
    id: 'q',
    name: 'Offer',
  });
  const deal = { id: 'o', contact: { id: 'c', firstName: 'Ada' } };
  expect(selectFields('opportunity', deal, ['contact'])).toEqual({ id: 'o', contact: 'Ada' });
  const listed = [{}, { listed: true }, { listed: false }].map(
    (product) => selectFields('product', product, ['listed']).listed,
  );
  expect(listed).toEqual([true, true, false]);
});

test('a reference shows its id only where it has no name', () => {
  const owned = (owner: { id: string; name?: string }) =>
    concise('opportunity', { id: 'q', owner });
  expect(owned({ id: 'u', name: 'Ada' })).toEqual({ id: 'q', owner: 'Ada' });
  expect(owned({ id: 'u' })).toEqual({ id: 'q', ownerId: 'u' });
});

test('a record without its usual name shows the next best', () => {
  const rows = [
    concise('quote', { title: 'Title', name: 'Name', items: [] }),
    concise('quote', { name: 'Name', items: [] }),
    concise('contract_item', { service: 'Backup', name: 'Name' }),
    concise('contract_item', { name: 'Name', companyId: 'acme' }, known),
    concise('contract_item', { company: { id: 'acme', name: 'Acme Inc.' } }, known),
    concise('quote_template', { widgets: [{ id: 'w1', name: 'Cover' }, { id: 'w2' }] }),
  ];
  expect(rows).toEqual([
    { title: 'Title', items: 0 },
    { title: 'Name', items: 0 },
    { service: 'Backup' },
    { service: 'Name', company: 'Acme', companyId: 'acme', currency: 'EUR' },
    { company: 'Acme Inc.', companyId: 'acme', currency: 'EUR' },
    { widgets: ['Cover', 'w2'] },
  ]);
});

test('a row takes the keys of its list: hidden columns, and fields of the service', () => {
  const deal = {
    id: 'o',
    name: 'Deal',
    company: { name: 'Acme' },
    source: { id: 's', name: 'Fair' },
    customFields: { region: 'North', empty: '' },
  };
  const keys = ['company', 'source', 'category', 'customFields.region', 'customFields.empty'];
  expect(withKeys('opportunity', deal, keys)).toStrictEqual({
    id: 'o',
    name: 'Deal',
    company: 'Acme',
    source: 'Fair',
    'customFields.region': 'North',
  });
});

test('amounts of lines have the currency of the company', () => {
  const quote = {
    id: 'q',
    company: { id: 'acme' },
    items: [{ name: 'Switch', price: 5 }],
    plan: { a: { cost: 7 } },
  };
  const select = (field: string) => selectFields('quote', quote, [field], known);
  expect(select('items.price')).toEqual({ id: 'q', 'items.price': [5], currency: 'EUR' });
  expect(select('plan.a.cost')).toEqual({ id: 'q', 'plan.a.cost': 7, currency: 'EUR' });
  expect(select('items.name')).toEqual({ id: 'q', 'items.name': ['Switch'] });
});

test('a key that every object has is no column', () => {
  expect(selectFields('company', { id: 'c' }, ['constructor'])).toEqual({ id: 'c' });
  expect(withKeys('company', {}, ['constructor'])).toEqual({});
  const named = JSON.parse('{ "constructor": "Own" }');
  expect(withKeys('company', named, ['constructor'])).toEqual({ constructor: 'Own' });
});

test('a product says that it is not listed, and by what category and manufacturer it goes', () => {
  const product = { id: 'p', vendor: 'Cisco', categories: [{ id: 'c', name: 'Switches' }] };
  const row = { id: 'p', manufacturer: 'Cisco', category: 'Switches' };
  expect(concise('product', { ...product, listed: true })).toEqual(row);
  expect(concise('product', { ...product, listed: false })).toEqual({ ...row, listed: false });
  const hubs = { id: 'h', name: 'Hubs' };
  const several = [...product.categories, hubs, hubs];
  expect(concise('product', { ...product, categories: several }).category).toEqual([
    'Switches',
    'Hubs',
  ]);
  expect(concise('product', { ...product, category: hubs }).category).toEqual(['Hubs', 'Switches']);
  const unnamed = { ...product, categories: [{ id: 'c' }, { id: 'd' }] };
  expect(concise('product', unnamed).categoryId).toEqual(['c', 'd']);
});

test('empty values are left out at every depth, and a deleted record says so', () => {
  const record = {
    id: 'c',
    name: 'Acme',
    deleted: '2026-06-01',
    address: { city: '' },
    labels: [],
  };
  expect(concise('company', record, nothingKnown)).toEqual({
    id: 'c',
    name: 'Acme',
    deleted: '2026-06-01',
  });
  const full = { id: 'c', note: null, address: { city: '', geo: {} }, tags: ['', 'a', null, {}] };
  expect(fullRecord(full)).toStrictEqual({ id: 'c', tags: ['a'] });
});
