import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, type SandboxTenant, startSandbox } from '../../src/sandbox/index.ts';
import { ask, first, type Record, rows, walk } from '../support/sandbox-client.ts';

const NOW = new Date('2031-05-14T10:00:00Z');

let sandbox: Sandbox;
let tenant: SandboxTenant;
let other: SandboxTenant;
let opportunities: Record[];
let quotes: Record[];

beforeAll(async () => {
  sandbox = await startSandbox({ now: NOW, rateLimit: false });
  [tenant, other] = sandbox.tenants as [SandboxTenant, SandboxTenant];
  opportunities = await walk(tenant, 'opportunity', 100);
  quotes = await walk(tenant, 'quote', 100);
});
afterAll(() => sandbox.close());

test('records have realistic sizes', () => {
  const average = (records: Record[]) => JSON.stringify(records).length / records.length;
  expect(average(opportunities.slice(0, 25))).toBeGreaterThan(850);
  expect(average(opportunities.slice(0, 25))).toBeLessThan(1050);
  expect(average(quotes)).toBeGreaterThan(4500);
  expect(average(quotes)).toBeLessThan(5600);
});

describe('the pipeline and the quotes', () => {
  test('dates are relative to the given day', () => {
    const open = opportunities.filter(({ closedAt, statusId }) => !closedAt && statusId === 'open');
    const days = open.flatMap(({ expectedCloseDate }) => expectedCloseDate?.slice(0, 10) ?? []);
    expect(days.some((day) => day < '2031-05-14')).toBe(true);
    expect(days.some((day) => day > '2032-05-14')).toBe(true);
    expect(opportunities.every(({ createdAt }) => createdAt <= NOW.toISOString())).toBe(true);
    const waiting = quotes.filter(({ status }) => status?.toLowerCase() === 'sent');
    expect(waiting.some(({ sentAt }) => sentAt < '2031-02-01')).toBe(true);
    expect(
      waiting.some(({ expiresAt }) => expiresAt > '2031-05-15' && expiresAt < '2031-05-22'),
    ).toBe(true);
    expect(waiting.some(({ expiresAt }) => expiresAt < '2031-05-01')).toBe(true);
  });

  test('one tenant keeps probabilities as 0–1, the other as 0–100', async () => {
    const highest = (records: Record[]) =>
      Math.max(...records.map(({ probability }) => probability ?? 0));
    expect(highest(opportunities)).toBe(1);
    expect(highest(await walk(other, 'opportunity', 100))).toBe(100);
  });
});

describe('irregular data', () => {
  test('edge cases are served as they are in the tables', async () => {
    const ids = (kind: string, resource = 'opportunity') =>
      rows(
        sandbox,
        'select id from edge_case where tenant = ? and resource = ? and kind = ?',
        tenant.name,
        resource,
        kind,
      ).map(({ id }) => id);
    const of = (kind: string) => {
      const found = opportunities.filter(({ id }) => ids(kind).includes(id));
      expect(found.length, kind).toBeGreaterThan(0);
      return found;
    };
    expect(of('null contact').every(({ contact }) => contact === null)).toBe(true);
    expect(of('no company').every((record) => !('company' in record))).toBe(true);
    expect(of('null closedAt').every(({ closedAt }) => closedAt === null)).toBe(true);
    expect(
      of('money as text').some(({ onetimeRevenue }) => typeof onetimeRevenue === 'string'),
    ).toBe(true);
    expect(of('soft-deleted').every(({ deletedAt }) => deletedAt)).toBe(true);
    expect(of('very long')[0].description).toHaveLength(30_000);
    expect(of('html')[0].description).toContain('<b>');
    const hidden = of('invisible characters')
      .map(({ description }) => description)
      .join('');
    expect(hidden).toMatch(/[\u{e0000}-\u{e007f}]/u);
    expect(hidden).toContain('\u202e');
    expect(hidden).toContain('\u200b');
    const [company] = ids('labels as objects', 'company');
    const { json } = await ask(tenant, `company/${company}`);
    expect(json.labels[0]).toEqual({ name: expect.any(String) });
    const empty = quotes.find(({ id }) => ids('no items', 'quote').includes(id));
    expect(empty.items).toEqual([]);
  });

  test('every reference between tables is valid', () => {
    const dangling = (from: string, column: string, to: string) =>
      first(
        sandbox,
        `select count(*) n from ${from} f left join ${to} t on t.tenant = f.tenant and t.id = f.${column}
         where f.${column} is not null and t.id is null`,
      ).n;
    expect(dangling('opportunity', 'companyId', 'company')).toBe(0);
    expect(dangling('quote', 'opportunityId', 'opportunity')).toBe(0);
    expect(dangling('quote_item', 'productId', 'product')).toBe(0);
    expect(dangling('pricing_book_product', 'productId', 'product')).toBe(0);
    expect(dangling('company', 'accountManagerId', 'owner')).toBeGreaterThan(0);
  });
});
