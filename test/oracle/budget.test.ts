import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { beforeAll, expect, test } from 'vitest';
import { checkNames } from '../../src/briefs/checks/checks.ts';
import { pipelineBy } from '../../src/briefs/pipeline/pipeline-groups.ts';
import { open, type Row, serving } from '../support/hosts.ts';
import { countIn, type Measured, measure, measuredTenant } from '../support/oracle/budget.ts';
import { type Sandbox, startSandbox } from '../support/sandbox.ts';
import { useDay } from '../support/shared.ts';

/** Limits of tokens and requests over a large tenant; docs/tokens.md has the measured values. */
let sandbox: Sandbox;
let measured: Measured[];
const server = serving({ at: () => sandbox });

beforeAll(async () => {
  const { day, ...options } = measuredTenant;
  useDay(day, 'UTC');
  sandbox = await startSandbox({ ...options, now: new Date(`${day}T09:00:00Z`) });
  measured = await measure(sandbox, () => open({ at: sandbox }));
});

const of = (what: string): Measured => {
  const found = measured.find((it) => it.what === what);
  if (!found) throw new Error(`${what} was not measured`);
  return found;
};
const pagesOf = (table: string) => Math.ceil(countIn(sandbox, table) / 100);

test.each([
  ['25 opportunities', 0.3],
  ['10 quotes', 0.12],
])('%s: at most %f of what the service sends', (what, share) => {
  const { text, structured, wire = 0 } = of(what);
  expect(text).toBeLessThanOrEqual(share * wire);
  expect(structured).toBeLessThanOrEqual(share * wire);
});

test('the open pipeline of 1,000 opportunities: at most 1,500 tokens and one request for each page', () => {
  expect(countIn(sandbox, 'opportunity')).toBeGreaterThanOrEqual(1000);
  const { text, structured, cold } = of('open pipeline by stage');
  expect(text).toBeLessThanOrEqual(1500);
  expect(structured).toBeLessThanOrEqual(1500);
  // Of the opportunities, and of the companies, which have the currencies.
  expect(cold).toBeLessThanOrEqual(pagesOf('opportunity') + pagesOf('company'));
});

test('the quotes of one company: at most 1,500 tokens', () => {
  const { text, structured } = of('quotes of one company');
  expect(text).toBeLessThanOrEqual(1500);
  expect(structured).toBeLessThanOrEqual(1500);
});

test('one company whole: at most 2,500 tokens', () => {
  expect(of('one company whole').text).toBeLessThanOrEqual(2500);
});

/** The tokens of both forms of an answer of a server that has read everything. */
async function tokensOf(tool: string, args: Row): Promise<number[]> {
  const { text, data } = await server.call(tool, args);
  return [countTokens(text), countTokens(JSON.stringify(data))];
}

test.each(pipelineBy)('the open pipeline by %s: at most 2,500 tokens', async (by) => {
  expect(Math.max(...(await tokensOf('cpq_brief_pipeline', { by })))).toBeLessThanOrEqual(2_500);
});

test.each(checkNames)('%s: at most 2,000 tokens', async (check) => {
  const tokens = await tokensOf('cpq_check_sales_data', { check });
  expect(Math.max(...tokens)).toBeLessThanOrEqual(2_000);
});

test('one quote: at most 2,500 tokens', async () => {
  const sql = `select quoteId as id from quote_item group by 1 order by count(*) desc, 1 limit 1`;
  const [quote] = sandbox.database.prepare(sql).all() as Row[];
  const tokens = await tokensOf('cpq_brief_quote', { quote: quote?.id });
  expect(Math.max(...tokens)).toBeLessThanOrEqual(2_500);
});

test('products under cost among 5,000: at most 2,000 tokens and 50 requests', () => {
  expect(countIn(sandbox, 'product')).toBeGreaterThanOrEqual(5000);
  const { text, structured, cold } = of('products under cost');
  expect(text).toBeLessThanOrEqual(2000);
  expect(structured).toBeLessThanOrEqual(2000);
  expect(cold).toBeLessThanOrEqual(pagesOf('product'));
});

test('collections are not read again', () => {
  const lists = ['25 opportunities', '10 quotes'];
  const briefs = measured.filter(({ what }) => !lists.includes(what));
  // A company that is named by its id is read by it.
  for (const { warm } of briefs) expect(warm).toBeLessThanOrEqual(1);
});
