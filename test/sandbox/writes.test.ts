import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Change,
  type Sandbox,
  type SandboxTenant,
  startSandbox,
} from '../../src/sandbox/index.ts';
import { type Answer, ask, first, rows } from '../support/sandbox-client.ts';

let sandbox: Sandbox;
let tenant: SandboxTenant;
let changes: Change[];

beforeEach(async () => {
  sandbox = await startSandbox({ scale: 0.05, rateLimit: false });
  [tenant] = sandbox.tenants;
  changes = [];
  sandbox.onChange((change) => changes.push(change));
});
afterEach(() => sandbox.close());

const put = (ext: string, body: unknown, to = tenant): Promise<Answer> =>
  ask(to, `opportunity/ext/${ext}`, { method: 'PUT', body });
const events = () => changes.map(({ subject, event }) => `${subject}.${event}`);
const stageOf = (outcome: string) =>
  first(
    sandbox,
    'select id, name from pipeline_stage where tenant = ? and outcome = ? order by position',
    tenant.name,
    outcome,
  );
const anyOf = (table: string) =>
  first(
    sandbox,
    `select id, name, externalIdentifier from ${table} where tenant = ? and externalIdentifier is not null`,
    tenant.name,
  );

describe('PUT /opportunity/ext/{externalIdentifier}', () => {
  test('creates a record from a name, in the first stage', async () => {
    const { status, json } = await put('ASK-1', { name: 'Forty laptops' });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      name: 'Forty laptops',
      externalIdentifier: 'ASK-1',
      statusId: 'open',
      pipelineStage: { id: stageOf('open').id },
      createdAt: expect.any(String),
    });
    expect((await ask(tenant, `opportunity/${json.id}`)).json).toEqual(json);
    expect(events()).toEqual(['opportunity.created']);
  });

  test('stores the body and resolves both kinds of references', async () => {
    const company = anyOf('company');
    const owner = anyOf('owner');
    const source = anyOf('source');
    const { json } = await put('ASK-1', {
      name: 'Backup',
      description: 'Wants a quote',
      companyExtId: company.externalIdentifier,
      ownerId: owner.id,
      sourceExtId: source.externalIdentifier,
      probability: 0.25,
      onetimeRevenue: 1200.5,
      valueMonths: 12,
      expectedCloseDate: '2031-02-28',
      customFields: { region: 'South' },
    });
    expect(json).toMatchObject({
      description: 'Wants a quote',
      company: { id: company.id, name: company.name },
      owner: { id: owner.id },
      source: { id: source.id },
      probability: 0.25,
      onetimeRevenue: 1200.5,
      expectedCloseDate: '2031-02-28',
      customFields: { region: 'South' },
    });
  });

  test('updates the record that has the identifier, and merges custom fields', async () => {
    const created = (await put('ASK-1', { name: 'One', customFields: { a: 1, b: 1 } })).json;
    const { status, json } = await put('ASK-1', { name: 'Two', customFields: { b: 2 } });
    expect(status).toBe(200);
    expect(json.id).toBe(created.id);
    expect(json).toMatchObject({ name: 'Two', customFields: { a: 1, b: 2 } });
    expect(json.updatedAt >= created.updatedAt).toBe(true);
    expect(events()).toEqual(['opportunity.created', 'opportunity.updated']);
  });

  test('keeps or clears omitted fields, as configured', async () => {
    const full = { name: 'One', description: 'Keep me', probability: 0.5, startDate: '2031-01-01' };
    const created = (await put('ASK-1', full)).json;
    const kept = (await put('ASK-1', { name: 'Two' })).json;
    expect(kept).toEqual({ ...created, name: 'Two', updatedAt: kept.updatedAt });
    sandbox.settings.upsertOmitted = 'clear';
    const { json } = await put('ASK-1', { name: 'Three', probability: 0.5 });
    expect(json).not.toHaveProperty('description');
    expect(json).not.toHaveProperty('startDate');
    expect(json).toMatchObject({ id: created.id, name: 'Three', probability: 0.5 });
    expect(json.pipelineStage).toEqual(created.pipelineStage);
  });

  test('null clears a property', async () => {
    await put('ASK-1', { name: 'One', description: 'Gone soon' });
    const { json } = await put('ASK-1', { name: 'One', description: null });
    expect(json).not.toHaveProperty('description');
  });
});

describe('the stage and the probability of an opportunity', () => {
  test('a closing stage closes the deal, and another one opens it again', async () => {
    await put('ASK-1', { name: 'One' });
    const won = (await put('ASK-1', { name: 'One', pipelineStageId: stageOf('won').id })).json;
    expect(won).toMatchObject({ statusId: 'won', closedAt: won.stageUpdatedAt });
    expect(events().slice(1)).toEqual(['opportunity.status_changed', 'opportunity.updated']);
    const again = (await put('ASK-1', { name: 'One', pipelineStageId: stageOf('open').id })).json;
    expect(again.statusId).toBe('open');
    expect(again).not.toHaveProperty('closedAt');
  });

  test('a tenant that returns 0–100 accepts 0–1', async () => {
    const [, second] = sandbox.tenants as [SandboxTenant, SandboxTenant];
    expect((await put('ASK-1', { name: 'One', probability: 0.4 }, second)).json.probability).toBe(
      40,
    );
    expect((await put('ASK-1', { name: 'One', probability: 40 }, second)).status).toBe(400);
  });
});

describe('an invalid body', () => {
  test.each([
    [{}, 'name should not be empty'],
    [{ name: 3 }, 'name must be a string'],
    [{ name: 'x', colour: 'red' }, 'property colour should not exist'],
    [{ name: 'x', probability: 1.1 }, 'probability must be a number between 0 and 1'],
    [
      { name: 'x', expectedCloseDate: '2031-02-30' },
      'expectedCloseDate must be a valid date, YYYY-MM-DD',
    ],
    [{ name: 'x', startDate: '01.02.2031' }, 'startDate must be a valid date, YYYY-MM-DD'],
    [{ name: 'x', companyId: 'nobody' }, 'companyId "nobody" does not exist'],
    [{ name: 'x', contactExtId: 'nobody' }, 'contactExtId "nobody" does not exist'],
    [{ name: 'x', pipelineStageId: 'none' }, 'pipelineStageId "none" does not exist'],
    [{ name: 'x', onetimeRevenue: '12' }, 'onetimeRevenue must be a number'],
    [[], 'body must be an object'],
  ])('is refused: %j', async (body, message) => {
    const { status, json } = await put('ASK-1', body);
    expect(status).toBe(400);
    expect(json.message).toEqual([message]);
    expect(rows(sandbox, "select 1 from opportunity where externalIdentifier = 'ASK-1'")).toEqual(
      [],
    );
  });

  test('is refused with all its errors', async () => {
    const { json } = await put('ASK-1', { probability: 2, colour: 1 });
    expect(json.message).toHaveLength(3);
  });

  test.each([{ name: 'half \ud83d' }, { name: 'x', customFields: { '\ud83d': 1 } }])(
    'is refused if it holds half a character: %j',
    async (body) => {
      const { status, json } = await put('ASK-1', body);
      expect({ status, message: json.message }).toEqual({
        status: 400,
        message: 'a string is not valid Unicode',
      });
      expect((await put('ASK-2', { name: 'whole 😀' })).json.name).toBe('whole 😀');
    },
  );

  test('does not inject SQL through an identifier', async () => {
    const ext = encodeURIComponent(`x'; drop table opportunity; --/"`);
    expect((await put(ext, { name: `O'Hara "Q"` })).json.name).toBe(`O'Hara "Q"`);
    expect((await put(ext, { name: 'Again' })).status).toBe(200);
  });
});

describe('the other writes', () => {
  test('a company is created, updated by id and by external identifier, and soft-deleted', async () => {
    const body = { name: 'Acme', externalIdentifier: 'ACME-1', labels: ['VIP'] };
    const created = await ask(tenant, 'company', { method: 'POST', body });
    expect(created.status).toBe(201);
    const { id } = created.json;
    await ask(tenant, `company/${id}`, { method: 'PUT', body: { type: 'customer' } });
    await ask(tenant, 'company/ext/ACME-1', { method: 'PUT', body: { currency: 'GBP' } });
    const { json } = await ask(tenant, `company/${id}`);
    expect(json).toMatchObject({ ...body, type: 'customer', currency: 'GBP' });
    const gone = await ask(tenant, `company/${id}`, { method: 'DELETE' });
    expect(gone.json.deleted).toBeTypeOf('string');
    expect(events()).toEqual([
      'company.created',
      'company.updated',
      'company.updated',
      'company.updated',
    ]);
  });

  test('an external identifier is unique', async () => {
    const { externalIdentifier } = anyOf('company');
    const body = { name: 'Twin', externalIdentifier };
    expect((await ask(tenant, 'company', { method: 'POST', body })).status).toBe(400);
  });

  test('a contact has the name of its company', async () => {
    const company = anyOf('company');
    const body = { lastName: 'Doe', companyExtId: company.externalIdentifier };
    const { json } = await ask(tenant, 'contact', { method: 'POST', body });
    expect(json).toMatchObject({ companyId: company.id, companyName: company.name });
  });

  test('a product is unlisted, not removed', async () => {
    const { id } = anyOf('product');
    expect((await ask(tenant, `product/${id}`, { method: 'DELETE' })).json.listed).toBe(false);
    expect((await ask(tenant, `product/${id}`)).status).toBe(200);
    expect((await ask(tenant, 'product/nothing', { method: 'DELETE' })).status).toBe(404);
    expect((await ask(tenant, 'product/nothing', { method: 'PUT', body: {} })).status).toBe(404);
  });

  test('a quote is drafted, ordered once, and deleted', async () => {
    const product = first(
      sandbox,
      "select id, name, price from product where tenant = ? and typeof(price) <> 'text' and price > 0",
      tenant.name,
    );
    const body = { title: 'Racks', items: [{ productId: product.id, quantity: 3 }] };
    const { status, json } = await ask(tenant, 'quote', { method: 'POST', body });
    expect(status).toBe(201);
    expect(json).toMatchObject({ title: 'Racks', status: 'draft' });
    expect(json.items).toMatchObject([{ name: product.name, quantity: 3, price: product.price }]);
    const order = await ask(tenant, `quote/${json.id}/order`, { method: 'POST' });
    expect(order).toMatchObject({ status: 201, json: { quoteId: json.id } });
    expect((await ask(tenant, `quote/${json.id}`)).json.status).toBe('approved');
    expect((await ask(tenant, `quote/${json.id}/order`, { method: 'POST' })).status).toBe(400);
    await ask(tenant, `quote/${json.id}`, { method: 'DELETE' });
    expect((await ask(tenant, `quote/${json.id}`)).json.deletedAt).toBeTypeOf('string');
    expect(events()).toEqual(['quote.created', 'quote.ordered', 'order.created', 'quote.deleted']);
  });

  test('a quote and its order are changed, and the order is completed', async () => {
    const change = (path: string, body: unknown) => ask(tenant, path, { method: 'PUT', body });
    const { json: quote } = await ask(tenant, 'quote', {
      method: 'POST',
      body: { title: 'Racks' },
    });
    const sent = await change(`quote/${quote.id}`, { title: 'Two racks', status: 'sent' });
    expect(sent).toMatchObject({ status: 200, json: { title: 'Two racks', status: 'sent' } });
    expect(sent.json.sentAt).toBe(sent.json.updatedAt);
    const { json: order } = await ask(tenant, `quote/${quote.id}/order`, { method: 'POST' });
    const delivered = await change(`order/${order.id}`, { status: 'delivered' });
    expect(delivered).toMatchObject({ status: 200, json: { id: order.id, status: 'delivered' } });
    const { json } = await change(`order/${order.id}`, { status: 'completed' });
    expect(json).toMatchObject({ quoteId: quote.id, status: 'completed' });
    expect((await change(`quote/${quote.id}`, { status: 'lost' })).status).toBe(400);
    expect((await change('quote/nowhere', { title: 'None' })).status).toBe(404);
    expect((await change('order/nowhere', { status: 'completed' })).status).toBe(404);
    expect(events()).toEqual([
      'quote.created',
      'quote.updated',
      'quote.ordered',
      'order.created',
      'order.updated',
      'order.completed',
    ]);
    expect(changes.at(-1)?.record).toEqual(json);
  });

  test('changes by SQL are visible in the next request', async () => {
    const { id } = anyOf('company');
    await ask(tenant, `company/${id}`);
    sandbox.database.prepare('update company set name = ? where id = ?').run('Renamed', id);
    expect((await ask(tenant, `company/${id}`)).json.name).toBe('Renamed');
  });
});
