import { describe, expect, test } from 'vitest';
import { nothingKnown } from '../../src/lists/columns.ts';
import { inWords, render } from '../../src/mcp/render.ts';
import { toResult } from '../../src/mcp/results.ts';
import { wording } from '../../src/text/untrusted-text.ts';
import { formatAmounts, listAnswer, withCoverageFirst } from '../../src/tool-kit/answers.ts';
import { listedWords } from '../../src/tool-kit/rows.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { open } from '../support/hosts.ts';

test('amounts in words, of one, two and three currencies', () => {
  expect(formatAmounts({})).toBe('');
  expect(formatAmounts({ EUR: 12_500.4 })).toBe('12,500.40 EUR');
  expect(formatAmounts({ EUR: 1, USD: 2 })).toBe('1 EUR and 2 USD');
  expect(formatAmounts({ CAD: 1, EUR: 2, 'unknown currency': 3 })).toBe(
    '1 CAD, 2 EUR and 3 (currency unknown)',
  );
});

describe('lists as text', () => {
  test('are marked when empty', () => {
    expect(render({ records: [], page: { labels: [], total: 0 } })).toBe(
      'records: []\npage: labels [], total 0',
    );
  });

  test('are one line, unless an item has a comma', () => {
    expect(render({ labels: ['VIP', 'On watch'] })).toBe('labels: VIP, On watch');
    expect(render({ preview: ['A, at B', 'C\nD'] })).toBe('preview:\n    > A, at B\n    > C ⏎ D');
  });

  test('have a line for each entry where some are records or lists', () => {
    expect(render({ parts: [{ id: 'a', at: { place: { x: 1 } } }, ['b', 2], 'c\nd'] })).toBe(
      'parts:\n- id: a\n  at:\n    place: x 1\n- ["b",2]\n- c ⏎ d',
    );
  });
});

describe('a table as text', () => {
  const cells = (line: string) =>
    [...line.matchAll(/(?:^|\|)((?:\\.|[^\\|])*)/g)].map(([, cell = '']) =>
      cell.replace(/\\(.)/g, '$1'),
    );

  test('keeps its cells, with any bars and backslashes', () => {
    const rows = [
      { 'a|b': 'x|y', c: 'z' },
      { 'a|b': 'ends with a backslash\\', c: 'z\\' },
      { 'a|b': 'both\\|', c: '|\\|' },
    ];
    const [, header = '', ...lines] = render({ rows }).split('\n');
    expect(cells(header)).toEqual(['a|b', 'c']);
    expect(lines.map(cells)).toEqual(rows.map((row) => Object.values(row)));
  });

  test('has references in a cell, and separates texts with commas by semicolons', () => {
    const related = [
      { id: 'a', name: 'A' },
      { id: 'b', name: 'B' },
    ];
    const rows = [{ at: 1, related, names: ['A, at B', 'C'] }];
    expect(render({ rows })).toBe(
      'rows:\nat|related|names\n1|id a, name A; id b, name B|A, at B; C',
    );
    // Records with more than a name stay a list of their own.
    expect(render({ rows: [{ items: [{ id: 'a', price: 1 }] }] })).not.toContain(';');
  });
});

test('a value on a line of several cannot pass for another field', () => {
  const company = { id: 'a', name: 'Acme, probability 0.9', labels: ['x + y', 'z'] };
  expect(render({ company })).toBe(
    'company: id a, name "Acme, probability 0.9", labels "x + y" + z',
  );
  expect(render({ company: { name: '"Acme", b', owner: 'Bob' } })).toBe(
    String.raw`company: name "\"Acme\", b", owner Bob`,
  );
});

test('a column that the first rows lack keeps the position it has in its row', () => {
  const rows = [
    { id: 1, name: 'a', stage: 'x' },
    { id: 2, name: 'b', deleted: '2026-01-01', stage: 'y', owner: 'o' },
  ];
  expect(render({ rows }).split('\n')[1]).toBe('id|name|deleted|stage|owner');
});

describe('coverage in text', () => {
  const textFor = async (coverage: object): Promise<string> => {
    const asOf = new Date().toISOString();
    const data = { rows: [], coverage: { complete: true, read: 7, total: 7, asOf, ...coverage } };
    const { content, structuredContent } = await toResult({ summary: wording`Seven.`, data });
    expect(structuredContent).toMatchObject({ coverage: data.coverage });
    return content[0]?.type === 'text' ? content[0].text : '';
  };

  test('is omitted when complete and fresh', async () => {
    expect(await textFor({})).not.toMatch(/coverage/);
  });

  test('is shown when incomplete or older than five minutes', async () => {
    const incomplete = { complete: false, total: 9, reason: 'the time was up' };
    expect(await textFor(incomplete)).toMatch(
      /^Incomplete: .*\ncoverage: complete false, read 7, total 9/s,
    );
    const asOf = new Date(Date.now() - 301_000).toISOString();
    expect(await textFor({ asOf })).toMatch(
      new RegExp(`\\ncoverage: complete true, .*as of ${asOf.slice(0, 16).replace('T', ' ')} UTC`),
    );
  });
});

describe('the first words of an answer', () => {
  const asOf = '2026-06-15T09:00:00Z';
  const reason = 'time ran out';
  const part = { complete: false, read: 5, total: 9, reason };
  const lacks = { record: 'quote', field: 'status', rows: 1, of: 2 };
  const odd = { ...lacks, example: 'x' };
  const five = 'only 5 of 9 records could be read';
  const unread = 'the status of 1 of 2 quotes could not be read, such as "x"';

  test.each([
    [{ complete: true }, ''],
    [{ complete: true, reason }, `Only as of ${asOf}: `],
    [{ ...part, reason: 'one page' }, ''],
    [part, `Incomplete: ${five}. `],
    [{ ...part, read: 9 }, 'Incomplete: there may be more than the 9 records that could be read. '],
    [{ ...part, reason: 'no quote could be read' }, 'Incomplete: no quote could be read. '],
    [{ complete: true, fields: [lacks] }, 'Not known: 1 of 2 quotes has no status. '],
    [{ complete: true, fields: [odd] }, `Incomplete: ${unread}. `],
    [{ ...part, fields: [lacks] }, `Incomplete: ${five}; 1 of 2 quotes has no status. `],
    [{ complete: true, reason, fields: [odd] }, `Incomplete: ${unread}. Only as of ${asOf}: `],
  ])('%o', (coverage, first) => {
    const data = { coverage: { asOf, ...coverage } };
    expect(withCoverageFirst({ summary: wording`Nine.`, data })).toBe(`${first}Nine.`);
  });

  const mayCount = ' The total may count deleted ones: filters deleted:false leaves them out.';
  const notGiven = 'The service counts them but gave none of them: ask again in a minute.';
  const tooFar = 'The last one is at from 4: ask with that, or a smaller one.';
  type Paged = { total: number; from?: number; deleted?: number; reason?: string };
  test.each<['contact' | 'product', string, Paged, string]>([
    ['product', 'ab', { total: 2 }, 'All 2 products.'],
    ['product', 'ab', { total: 2, reason: 'one page' }, 'All 2 products.'],
    ['product', 'ab', { total: 2, reason }, '2 of at least 2 products, from 0.'],
    ['product', 'ab', { total: 5, from: 3 }, '2 of 5 products, from 3.'],
    ['product', '', { total: 0 }, 'No products. Nothing.'],
    ['product', '', { total: 5 }, `No products: there are 5. ${notGiven}`],
    ['product', '', { total: 5, from: 9 }, `No products from 9: there are 5. ${tooFar}`],
    ['contact', 'ab', { total: 5 }, `2 of 5 contacts, from 0.${mayCount}`],
    ['contact', 'ab', { total: 5, deleted: 0 }, '2 of 5 contacts, from 0.'],
    ['product', 'xb', { total: 2 }, 'All 2 products. 1 of the rows shown is deleted.'],
    [
      'product',
      'x',
      { total: 5 },
      `1 of 5 products, from 0. 1 of the rows shown is deleted.${mayCount}`,
    ],
    ['product', 'xb', { total: 5, deleted: 3 }, '2 of 5 products, from 0. 3 of them are deleted.'],
    ['product', 'x', { total: 1 }, '1 product. It is deleted.'],
  ])('of a list of %s %s %o', (resource, ids, { reason: why, ...page }, said) => {
    const read = { complete: !why, read: 2, total: 2, asOf: new Date() };
    const coverage = { ...read, ...(why && { reason: why }) };
    const records = [...ids].map((id) => ({ id, ...(id === 'x' && { deleted: '2026-01-01' }) }));
    const list = { records, from: 0, known: nothingKnown, keys: [], coverage, ...page };
    const hints = { empty: wording`Nothing.` };
    const { summary, notes = [] } = listAnswer(resource, list, { detail: 'concise' }, hints);
    expect([summary, ...notes].join(' ')).toBe(said);
  });

  test.each([
    [{ shown: 0, total: 3 }, false],
    [{ shown: 0, total: 3, from: 9 }, 'None from 9: there are 3.'],
    [{ shown: 3, total: 3 }, false],
    [{ shown: 2, total: 3, next: 2 }, 'Listed: 1 to 2 of 3; next: from 2.'],
    [{ shown: 1, total: 3, from: 2 }, 'Listed: 3 to 3 of 3.'],
  ])('of the rows of a brief %o', (page, said) => {
    expect(listedWords(page)).toBe(said);
  });
});

const { address } = embeddedTenant({ scale: 0.1, as: 'all' });

test('filters of open deals are refused where the answer is about closed ones', async () => {
  const server = await open({ at: address });
  const refused = (args: object) =>
    server.refused('cpq_brief_pipeline', { outcome: 'won', ...args });
  expect(await refused({ close_from: '2026-05-01' })).toBe(
    'close_from: is for the expected close of open deals; with this outcome use period_from.',
  );
  expect(await refused({ close_to: '2026-05-31' })).toContain('use period_to');
  expect(await refused({ stage: 'Discovery' })).toContain('stage: is for open deals');
  expect(await refused({ stalled_days: 10 })).toContain('stalled_days: is for open deals');
  expect(await refused({ sections: ['overdue'] })).toContain(
    'sections: must be some of closed, groups, deals with this outcome.',
  );
  expect(await refused({ period_from: 'last_month' })).toBe(
    'period_from: must be a date that exists, as YYYY-MM-DD.',
  );
});

test('the text has names in words, amounts with their currency, and ids last', () => {
  const row = { id: 'a', companyId: 'b', name: 'N', firstYearValue: 1234.5, currency: 'USD' };
  expect(inWords({ rows: [row] })).toEqual({
    rows: [{ name: 'N', 'first-year value': '1,234.50 USD', id: 'a', 'company id': 'b' }],
  });
  expect(Object.keys(inWords(row))).toEqual(['name', 'first-year value', 'id', 'company id']);
  expect(inWords({ weightedValue: { EUR: 2, 'unknown currency': 0.5 } })).toEqual({
    'weighted value': '2 EUR and 0.50 (currency unknown)',
  });
  const counts = { shown: 1, total: 9, unknown: { revenue: 5 }, countByCurrency: { USD: 3 } };
  expect(inWords(counts)).toEqual({
    shown: 1,
    total: 9,
    unknown: { revenue: 5 },
    'count by currency': { USD: 3 },
  });
  expect(inWords({ term: 'monthly', withoutPriceOrCost: 2 }, 'USD')).toMatchObject({
    'without price or cost': 2,
  });
  const coverage = { complete: false, read: 19, total: 5012 };
  expect(inWords({ currency: 'USD', coverage })).toEqual({ currency: 'USD', coverage });
  expect(inWords({ discount: { type: 'percentage', amount: 6 } }, 'USD')).toEqual({
    discount: { type: 'percentage', amount: 6 },
  });
  const discount = { type: 'amount', amount: 900 };
  expect(inWords({ discount }, 'USD')).toEqual({
    discount: { type: 'amount', amount: '900 USD' },
  });
  expect(inWords({ at: '2026-11-23T15:24:23.000Z', movement: ['pulledIn'] })).toEqual({
    at: '2026-11-23 15:24 UTC',
    movement: ['pulled in'],
  });
});
