import { describe, expect, test } from 'vitest';
import { everything, type Row, serving } from '../support/hosts.ts';
import { listTools, readTools } from '../support/samples.ts';

/** Rows of the embedded tenant, which has a past. */
const server = serving(everything);
const call = async (tool: string, args: Row) => (await server.call(tool, args)).data;

interface Page {
  rows: Row[];
  total: number;
  next?: number;
}

/** A list that is shown in pages. */
interface Paged {
  base?: Row;
  /** The arguments of a page. */
  size: string;
  from: string;
  pageOf(answer: Row): Page;
}

const ofRecords = ({ records, page }: Row) =>
  ({ ...(page as Row), rows: records }) as unknown as Page;
const plain: Paged = { size: 'size', from: 'from', pageOf: ofRecords };
const at = (...path: string[]) => ({
  pageOf: (answer: Row) =>
    path.reduce((inner: unknown, name) => (inner as Row)[name], answer) as Page,
});
const deals: Paged = { ...plain, size: 'rows', from: 'deals_from' };
const changes: Paged = { size: 'rows', from: 'from', ...at('deals') };

const paged: readonly (readonly [tool: string, Paged])[] = [
  ['cpq_list_opportunities', { ...plain, base: { filters: 'outcome:open', sort: '-oneTime' } }],
  ['cpq_brief_pipeline', { ...deals, base: { sections: ['deals'] } }],
  ['cpq_pipeline_deals', deals],
  ['cpq_check_sales_data', { ...plain, base: { check: ['stale_quotes'] }, ...at() }],
  ['cpq_brief_quotes', { ...plain, ...at('quotes') }],
  ['cpq_pipeline_changes', { ...changes, base: { since: '14d' } }],
  ['cpq_pipeline_changes', { ...changes, base: { since: '21d', movement: 'slipped' } }],
  ['cpq_pipeline_changes', { ...changes, base: { since: '21d', pushes: 1 } }],
  [
    'cpq_pipeline_changes',
    { ...changes, base: { since: '21d', by: 'quote' }, ...at('quotes', 'changed') },
  ],
];

/** What `paging.test.ts` reads, and what is tested where the tests fill it. */
const elsewhere = [...Object.keys(listTools), 'cpq_list_events', 'cpq_list_changes'];

test('every tool with pages is in this table', () => {
  const names = readTools.filter(
    ({ input: { shape } }) => 'from' in shape || 'deals_from' in shape,
  );
  const tested = [...paged.map(([tool]) => tool), ...elsewhere];
  expect(names.map(({ name }) => name).filter((name) => !tested.includes(name))).toEqual([]);
});

describe.each(paged)('the pages of %s', (tool, { base = {}, size, from, pageOf }) => {
  const page = async (start: number, rows: number) =>
    pageOf(await call(tool, { ...base, [size]: rows, [from]: start }));
  const idsOf = ({ rows }: Page) => rows.map(({ id, number, name }) => id ?? number ?? name);

  test('have each row once, end with the last one, and say so beyond it', async () => {
    const whole = idsOf(await page(0, 12));
    expect(whole.length).toBeGreaterThan(1);
    const read: unknown[] = [];
    let total = 0;
    for (let next: number | undefined = 0; next !== undefined && read.length < whole.length; ) {
      const part: Page = await page(next, 5);
      read.push(...idsOf(part));
      expect(part.next ?? part.total).toBe(read.length);
      ({ next, total } = part);
    }
    expect(read.slice(0, whole.length)).toEqual(whole);
    for (const [rows, size] of [
      [1, 5],
      [1, 1],
      [2, 2],
    ] as const) {
      const last = await page(total - rows, size);
      expect([last.rows.length, last.next, last.total]).toEqual([rows, undefined, total]);
    }
    const beyond = await call(tool, { ...base, [size]: 1, [from]: total });
    expect([pageOf(beyond).rows, pageOf(beyond).next]).toEqual([[], undefined]);
    expect(beyond.summary).toContain(` from ${total}: there are ${total}.`);
  });
});

test.each(['cpq_list_quotes', 'cpq_list_products'])(
  'a page of %s that is too long continues where it was cut',
  async (tool) => {
    const args = { detail: 'full', size: 100, from: 7 };
    const { rows, next = 0 } = ofRecords(await call(tool, args));
    expect(rows.length).toBeLessThan(100);
    expect(next).toBe(7 + rows.length);
    const after = ofRecords(await call(tool, { ...args, size: 1, from: next - 1 }));
    expect(after.rows[0]?.id).toBe(rows.at(-1)?.id);
  },
);

test('a view has all the deals that it asks for, however long they are', async () => {
  const { rows, total } = ofRecords(
    await call('cpq_pipeline_deals', { deals_from: 0, rows: 1_000, show: ['ask'] }),
  );
  expect(rows).toHaveLength(total);
  expect(total).toBeGreaterThan(70);
});
