import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { tenantsOf } from '../../src/commands/tenants.ts';
import { readSettings } from '../../src/config.ts';
import { inLines, verdictOf } from '../support/compatibility/difference.ts';
import { judgeReplies } from '../support/compatibility/judge.ts';
import { inField } from '../support/compatibility/rewrite.ts';
import { startService } from '../support/compatibility/service.ts';
import { openSession } from '../support/compatibility/session.ts';
import type { Named } from '../support/compatibility/stored-data.ts';
import { wireVariations } from '../support/compatibility/wire.ts';
import { open } from '../support/hosts.ts';
import { sample } from '../support/sampling.ts';
import { closing, newFolder } from '../support/shared.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

/** With the lines that an operator writes the answers are those of the documented service. */

vi.setConfig({ maxConcurrency: 2 });

const mended: Readonly<Record<string, readonly string[]>> = {
  'closedAt: closeDate': ['opportunity.closedAt = closeDate'],
  'outcome as codes': [
    'won = statusId in [4]',
    'lost = statusId in [7, 8]',
    'open = statusId in ["1"]',
  ],
  'currency {code}': ['company.currency = currency.code'],
  'opportunity.company: {value, label}': [
    'opportunity.company.id = company.value',
    'opportunity.company.name = company.label',
  ],
  'outcome isWon': [
    'won = isWon',
    'opportunity.lost = isWon in [false]',
    'open = isClosed in [false]',
  ],
  billingPeriod: ['quote.items.term = billingPeriod'],
  'term in German': [
    'quote.items.monthly = term in [monatlich, je Monat]',
    'quote.items.yearly = term in [Jährlich]',
    'quote.items.one-time = term in [einmalig]',
  ],
  lineItems: ['quote.items = lineItems  # a list'],
  'items.data': ['quote.items = items.data'],
  'items in sections': ['quote.items = sections.0.items'],
  'one-time revenue in money': ['opportunity.onetimeRevenue = money.oneTime'],
  'price of a line: {amount, currency}': ['quote.items.price = price.amount'],
  'quantity: qty': ['quote.items.quantity = qty'],
  'book products nested': ['pricing-book.products.productId = product.id'],
  'book unitPrice': ['pricing-book.products.price = unitPrice'],
  'book price {amount}': ['pricing-book.products.price = price.amount'],
  'opportunity.company: {key, text}': [
    'opportunity.company.id = company.key',
    'opportunity.company.name = company.text',
  ],
  'opportunity.pipelineStage: a list of one': ['opportunity.pipelineStage = pipelineStage.0'],
  'opportunity: active: false': ['opportunity.deleted = active in [false]'],
  'product status inactive': ['product.listed = status in [active]'],
  'quote status in German': [
    'quote.draft = status in [Entwurf]',
    'quote.sent = status in [versendet, "gesendet, offen"]',
    'quote.approved = status in [angenommen]',
    'quote.declined = status in [abgelehnt]',
  ],
};

describe.concurrent('the answers are those of the documented service', () => {
  test.for(sample(Object.entries(mended), 4))('%s', async ([name, fields], { expect }) => {
    const variation = wireVariations.find((it) => it.name === name);
    if (!variation) throw new Error(`no variation ${name}`);
    const compared = await judgeReplies(variation, fields);
    expect(verdictOf(compared), inLines(compared)).toBe('right');
  });
});

test('a write sends mapped fields back as they were read', async () => {
  const closes = inField('/opportunity', 'expectedCloseDate', (day) => ({ dates: { close: day } }));
  const company = inField('/opportunity', 'company', (it) => ({
    account: { key: (it as Named).id },
  }));
  const session = await openSession({
    set: {
      rewrite: () => {
        const [one, other] = [closes(), company()];
        return (reply, request) => one(other(reply, request), request);
      },
    },
    fields: ['opportunity.expectedCloseDate = dates.close', 'opportunity.company.id = account.key'],
  });
  const stored = session.service.storedData['/opportunity'][0];
  if (!stored) throw new Error('no opportunity');
  const before = structuredClone(stored);
  const { isError, text, data } = await session.ask('cpq_upsert_opportunity', {
    opportunity_id: stored.id,
    description: 'Two more seats',
  });
  expect(isError, text).toBe(false);
  expect(data).toMatchObject({ outcome: 'written' });
  const after = session.service.storedData['/opportunity'][0];
  expect(after).toMatchObject({
    ...before,
    description: 'Two more seats',
    updatedAt: expect.anything(),
  });
  await session.close();
});

test('an answer says first which lines no record has', async () => {
  const session = await openSession({
    set: {},
    fields: ['opportunity.onetimeRevenue = amountOnce', 'opportunity.startDate = begins'],
  });
  const { text, data } = await session.ask('cpq_brief_pipeline');
  expect(text).toMatch(
    /^Incomplete: the onetimeRevenue of \d+ opportunities could not be read, such as "opportunity\.onetimeRevenue = amountOnce"\. /,
  );
  expect(data.coverage).toMatchObject({
    fields: [{ field: 'onetimeRevenue', example: 'opportunity.onetimeRevenue = amountOnce' }],
  });
  await session.close();
});

/** The status of a deal has another name. */
async function startRenamed() {
  const rewrite = inField('/opportunity', 'statusId', (value) => ({ state: value }));
  const service = closing(await startService({ rewrite }));
  const won = service.storedData['/opportunity'].filter(
    ({ statusId, deletedAt }) => statusId === 'won' && deletedAt === undefined,
  );
  return { service, won: won.length, address: { baseUrl: service.url, key: service.key } };
}

async function fileWith(lines: string): Promise<string> {
  const file = join(newFolder(), 'fields.txt');
  await writeFile(file, lines);
  return file;
}

test('what was read by other lines is not used', async () => {
  const { won, address } = await startRenamed();
  const folder = newFolder();
  const wonBy = async (lines: string) => {
    const env = { CPQ_KEEP_COLLECTIONS: 'on', CPQ_FIELDS_FILE: await fileWith(lines) };
    const server = await open({ at: address, folder, env });
    const { page } = await server.call('cpq_list_opportunities', { filters: 'outcome:won' });
    await server.close();
    return page.total;
  };
  expect(won).toBeGreaterThan(0);
  expect(await wonBy('')).toBe(0);
  expect(await wonBy('won = state in [won]')).toBe(won);
});

test('a tenants file names it for each tenant, and webhooks are read by it', async () => {
  const { service, address } = await startRenamed();
  const [deal] = service.storedData['/opportunity'].filter(({ statusId }) => statusId === 'Active');
  const folder = newFolder();
  await writeFile(join(folder, 'acme.txt'), 'opportunity.statusId = state\n');
  const tenant = { baseUrl: address.baseUrl, apiKey: address.key, webhookSecret };
  const tenants = { acme: { ...tenant, fieldsFile: 'acme.txt' }, other: tenant };
  const file = join(folder, 'tenants.json');
  await writeFile(file, JSON.stringify({ tenants }));
  const read = tenantsOf(readSettings([], { CPQ_TENANTS_FILE: file }));
  expect(read.get('acme')?.fieldsFile).toContain('= state');
  expect(read.get('other')?.fieldsFile).toBeUndefined();

  const env = { CPQ_FIELDS_FILE: join(folder, 'acme.txt') };
  const server = await open({ at: address, toolsets: 'briefs,events', webhookSecret, env });
  await server.call('cpq_brief_pipeline');
  const record = { id: deal?.id, name: deal?.name, state: 'won' };
  const at = webhooksAt(String(server.url), 'default');
  await deliver(at, { event: 'opportunity.updated', data: record });
  const { records } = await server.call('cpq_list_events');
  expect(records).toMatchObject([{ changes: ['statusId: "Active" → "won"'] }]);
  await server.close();
});
