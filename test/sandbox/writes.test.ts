import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
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
  vi.spyOn(sandbox.webhooks, 'announce').mockImplementation((change) => changes.push(change));
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
    [{ name: ' ' }, 'name should not be empty'],
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

  test('takes an identifier as it is, also one with a colon', async () => {
    expect((await put(':key', { name: 'Colon' })).json.externalIdentifier).toBe(':key');
  });

  test('does not inject SQL through an identifier', async () => {
    const ext = encodeURIComponent(`x'; drop table opportunity; --/"`);
    expect((await put(ext, { name: `O'Hara "Q"` })).json.name).toBe(`O'Hara "Q"`);
    expect((await put(ext, { name: 'Again' })).status).toBe(200);
  });
});

test('changes by SQL are visible in the next request', async () => {
  const { id } = anyOf('company');
  await ask(tenant, `company/${id}`);
  sandbox.database.prepare('update company set name = ? where id = ?').run('Renamed', id);
  expect((await ask(tenant, `company/${id}`)).json.name).toBe('Renamed');
});
