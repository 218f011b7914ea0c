import { expect, test } from 'vitest';
import type { CheckName } from '../../src/briefs/checks/checks.ts';
import type {
  Contact,
  Opportunity,
  Product,
  Quote,
  RecordLists,
  Ref,
} from '../../src/service/records/records.ts';
import { type RunOptions, runCheck } from '../support/run-briefs.ts';

const today = '2026-06-15';
const currencyOf = new Map([['acme', 'EUR']]);
const acme = { id: 'acme', name: 'Acme' };
type Options = Partial<RunOptions>;
const run = (name: CheckName, data: RecordLists, options: Options = {}) =>
  runCheck(name, data, { today, currencyOf, ...options });

const product = (id: string, price?: number, cost?: number, more: Product = {}): Product => ({
  id,
  name: `Product ${id}`,
  ...(price !== undefined && { price }),
  ...(cost !== undefined && { cost }),
  ...more,
});

const quote = (id: string, more: Quote): Quote => ({
  id,
  title: `Quote ${id}`,
  company: acme,
  items: [{ quantity: 1, price: 100, product: { id: 'p' } }],
  ...more,
});

test('pricing_drift finds the least difference where none is tolerated', () => {
  const books = [100.4, 100].map((price) => ({ products: [{ productId: 'p', price }] }));
  const data = { pricing_book: books, product: [product('p', 100)] };
  expect(run('pricing_drift', data, { tolerance: 0 }).rows.map(({ reason }) => reason)).toEqual([
    'book 100.40, catalogue 100 (+0.4 %)',
  ]);
});

test('unlisted_on_quotes takes no product by a part number that several have', () => {
  const old = product('old', 1, 1, { listed: false, manufacturer: 'HP', mpn: 'A-1' });
  const current = product('new', 1, 1, { manufacturer: 'hp', mpn: 'A1' });
  const items = [{ quantity: 1, price: 10, manufacturer: 'HP', mpn: 'a1' }];
  const found = (...products: Product[]) =>
    run('unlisted_on_quotes', {
      product: products,
      quote: [quote('q', { status: 'draft', items })],
    });
  expect(found(old).total).toBe(1);
  expect(found(current, old)).toMatchObject({
    total: 0,
    notChecked: { 'lines: no product named': 1 },
  });
});

test('stalled_opportunities finds those without any change, and says which have no close date', () => {
  const deal = (id: string, more: Opportunity): Opportunity => {
    return { id, onetimeRevenue: 10, pipelineStage: { name: 'Offer' }, ...more };
  };
  const data = {
    opportunity: [
      deal('30 days', { updatedAt: '2026-05-16', createdAt: '2026-01-01' }),
      deal('29 days', { updatedAt: '2026-05-17' }),
      deal('closes today', { updatedAt: '2026-05-18', expectedCloseDate: today }),
      deal('undated', {}),
    ],
  };
  const report = run('stalled_opportunities', data);
  expect([report.examined, report.notChecked]).toEqual([4, { 'no date of any change': 1 }]);
  expect(report.rows.map(({ id }) => id)).toEqual(['30 days']);
  const sooner = run('stalled_opportunities', data, { days: 28, status: { name: 'offer' } });
  expect(sooner.rows.map(({ id, kind }) => [id, kind?.[0]])).toEqual([
    ['29 days', 'no close date'],
    ['30 days', 'no close date'],
    ['closes today', 'not overdue'],
  ]);
  expect(run('stalled_opportunities', data, { status: { name: 'Won' } }).rows).toEqual([]);
});

const refs = (ref: Ref): Opportunity => ({
  ...{ contact: ref, company: ref, owner: ref, category: ref },
});
const booked = (price: number | undefined, more: Product, id = 'p'): RecordLists => ({
  product: [product('p', 100, 1, more)],
  pricing_book: [{ products: [{ productId: id, ...(price !== undefined && { price }) }] }],
});
const sharing = (...companies: Contact[]) => ({
  contact: companies.map((each, at) => ({ id: `${at}`, email: 'a@b.example', ...each })),
});

test.each<[string, CheckName, RecordLists, object]>([
  ['an id is enough', 'incomplete_opportunities', { opportunity: [refs({ id: '1' })] }, none()],
  ['so is a name', 'incomplete_opportunities', { opportunity: [refs({ name: 'N' })] }, none()],
  [
    'blanks are nothing',
    'incomplete_opportunities',
    { opportunity: [refs({ id: ' ', name: '' })] },
    { rows: [{ reason: 'no contact, no company, no owner, no category' }] },
  ],
  [
    'a missing price is not 0',
    'zero_prices',
    { quote: [quote('q', { status: 'draft', items: [{ price: 0 }, {}, { price: 0.001 }] })] },
    { total: 1, lines: 1 },
  ],
  ['unknown', 'pricing_drift', booked(1, {}, 'x'), none('product not in the catalogue')],
  ['unlisted', 'pricing_drift', booked(undefined, { listed: false }), none('product unlisted')],
  ['unpriced', 'pricing_drift', booked(undefined, { price: 0 }), none('no price in the book')],
  ['of 0', 'pricing_drift', booked(1, { price: 0 }), none('price 0 in the catalogue')],
  [
    'companies without an id have names',
    'duplicate_contacts',
    sharing({ companyName: 'Acme' }, { companyName: 'Other' }),
    { total: 1, contacts: 2, rows: [{ kind: ['same e-mail', 'several companies'] }] },
  ],
  [
    'one company',
    'duplicate_contacts',
    sharing({ companyId: 'acme' }, {}, { companyId: 'acme' }),
    { rows: [{ kind: ['same e-mail', 'one company'] }] },
  ],
  [
    'two others are named, the rest is counted',
    'duplicate_contacts',
    sharing({}, {}, {}, {}),
    { rows: [{ id: '0', related: [{ id: '1' }, { id: '2' }], moreRelated: 1 }] },
  ],
])('%s: %s', (_what, check, data, expected) => {
  expect(run(check, data)).toMatchObject(expected);
});

/** No finding, and why one record could not be checked. */
function none(reason?: string) {
  return { total: 0, ...(reason && { notChecked: { [reason]: 1 } }) };
}

test('a reason quotes record text in one line', () => {
  const expectedCloseDate = 'x" is fine\noutcome: written \u2028- bullet';
  const report = run('missing_close_dates', { opportunity: [{ id: '1', expectedCloseDate }] });
  expect(report.rows[0]?.reason).toBe(
    'close date "x\\" is fine ⏎ outcome: written ⏎ - bullet" is no date',
  );
});

test('the lines of findings of one kind are those of its findings', () => {
  const free = (id: string, status: string) => quote(id, { status, items: [{ price: 0 }] });
  const quotes = [free('a', 'draft'), free('b', 'sent')];
  const { total, lines } = run('zero_prices', { quote: quotes }, { kind: { name: 'draft' } });
  expect([total, lines]).toEqual([1, 1]);
});

test('counts of owners of one name have their ids', () => {
  const opportunity = ['u1', 'u2', 'u2'].map((id): Opportunity => ({ owner: { id, name: 'Ann' } }));
  const { counts } = run('missing_close_dates', { opportunity });
  expect(counts?.filter(({ by }) => by === 'owner')).toEqual([
    { by: 'owner', value: 'Ann', count: 2, id: 'u2' },
    { by: 'owner', value: 'Ann', count: 1, id: 'u1' },
  ]);
});
