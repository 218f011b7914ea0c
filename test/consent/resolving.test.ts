import { describe, expect, test } from 'vitest';
import { anyOpportunity, type Opportunity, openWriter } from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { closing, shared } from '../support/shared.ts';
import { limit } from '../support/upstream/behaviour.ts';
import { faults } from '../support/upstream/faults.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const sandbox = shared(() => startSandbox({ scale: 0.2 }));
const at = async () => addressIn(await sandbox(), 'all');
/** Caches nothing: changes of the database count at once. */
const writer = shared(async () => openWriter(await at(), { tenant: { freshMs: 0 } }));
const opportunity = shared(async () => anyOpportunity(await at()));

type Value = string | number | null;

/** Writes a row of the first tenant into a table of the sandbox. */
async function put(table: string, row: Record<string, Value>): Promise<void> {
  const { database, tenants } = await sandbox();
  const all: Record<string, Value> = { tenant: tenants[0].name, ...row };
  const names = Object.keys(all);
  const marks = names.map(() => '?').join(', ');
  const sql = `insert into ${table} (${names.join(', ')}) values (${marks})`;
  database.prepare(sql).run(...Object.values(all));
}

let made = 0;
const company = async (row: Record<string, Value>): Promise<string> => {
  made += 1;
  const id = `Company${String(made).padStart(13, '0')}`;
  await put('company', { id, ...row });
  return id;
};
const contact = async (row: Record<string, Value>): Promise<string> => {
  made += 1;
  const id = `Contact${String(made).padStart(13, '0')}`;
  await put('contact', { id, ...row });
  return id;
};

/** The record that the name was resolved to, as the preview shows it. */
async function resolved(args: Row, to?: Opportunity): Promise<unknown> {
  const { id } = to ?? (await opportunity());
  const answer = await (await writer()).upsert({ opportunity_id: id, ...args });
  expect(answer.text).toMatch(/nobody was asked/);
  const [field] = Object.keys(args);
  return answer.changes.find((change) => change.field === field)?.to;
}

async function refused(args: Row): Promise<string> {
  const { id } = await opportunity();
  const answer = await (await writer()).upsert({ opportunity_id: id, ...args });
  expect(answer).toMatchObject({ isError: true });
  expect(answer.text).toMatch(/^Nothing was written\. /);
  return answer.text;
}

describe('a company', () => {
  test('is found by id, external identifier or name, in any letter case', async () => {
    const id = await company({ name: 'Resolva Ltd', externalIdentifier: 'RES-1' });
    for (const wanted of [id, 'RES-1', 'res-1', 'Resolva Ltd', '  resolva LTD ']) {
      expect(await resolved({ company: wanted })).toBe(`Resolva Ltd (${id})`);
    }
  });

  test('has candidates without markup', async () => {
    await company({ name: 'Marked <script>x</script>' });
    await company({ name: 'Marked <img src=x onerror=y>' });
    const text = await refused({ company: 'Marked' });
    expect(text).toContain('Marked < script>x< /script>');
    expect(text).not.toMatch(/<(?:script|img)/);
  });

  test.each(['.', '..', '../opportunity', 'a/b?c#d', '\ud800', 'x\u0000y'])(
    'is not found by %j, which requests no other route',
    async (wanted) => {
      expect(await refused({ company: wanted })).toMatch(/There is no company/);
    },
  );
});

describe('a contact', () => {
  test('is found by id, external identifier, e-mail or name', async () => {
    const at = await opportunity();
    const id = await contact({
      firstName: 'Ada',
      lastName: 'Resolver',
      email: 'ada@resolver.example',
      externalIdentifier: 'ADA-1',
      companyId: at.company.id,
    });
    for (const wanted of [id, 'ada-1', 'ADA@resolver.example', 'ada resolver']) {
      expect(await resolved({ contact: wanted })).toBe(`Ada Resolver (${id})`);
    }
  });

  test('of another company, by id, is reported to the person', async () => {
    const other = await company({ name: 'Elsewhere plc' });
    const id = await contact({
      firstName: 'From',
      lastName: 'Elsewhere',
      companyId: other,
      companyName: 'Elsewhere plc',
    });
    const { id: opportunity_id } = await opportunity();
    const { preview } = await (await writer()).upsert({ opportunity_id, contact: id });
    expect(preview).toContain('→ “From Elsewhere”');
    expect(preview).toContain(
      'Note: the contact “From Elsewhere” belongs to another company, “Elsewhere plc”.',
    );
  });

  test('that is currently set is shown by name', async () => {
    const at = await opportunity();
    const id = await contact({ firstName: 'New', lastName: 'One', companyId: at.company.id });
    const { preview } = await (await writer()).upsert({ opportunity_id: at.id, contact: id });
    expect(preview).toMatch(/• Contact: “[^”]+” → “New One”$/m);
  });
});

describe('an owner, stage, category or source', () => {
  const words = ['owner', 'stage', 'category', 'source'] as const;
  const refOf = { owner: 'owner', stage: 'pipelineStage', category: 'category', source: 'source' };

  /** A record that another opportunity refers to. */
  async function other(what: (typeof words)[number]): Promise<{ id: string; name: string }> {
    const { results } = (await (
      await fetch(`${(await at()).baseUrl}/public-api/opportunity?size=100`, {
        headers: { 'api-key': (await at()).key },
      })
    ).json()) as { results: Record<string, { id: string; name: string }>[] };
    const mine = (await opportunity())[refOf[what]] as { id: string } | undefined;
    const found = results
      .map((it) => it[refOf[what]])
      .find((ref) => ref?.name && ref.id !== mine?.id);
    if (!found) throw new Error(`no other ${what}`);
    return found;
  }

  test.each(words)('is found by id or name: %s', async (what) => {
    const { id, name } = await other(what);
    for (const wanted of [id, name, name.toUpperCase()]) {
      expect(await resolved({ [what]: wanted })).toBe(`${name} (${id})`);
    }
  });
});

describe('cached collections', () => {
  test('may be incomplete: names are then uncertain, ids are not', async () => {
    const upstream = closing(await startUpstream());
    upstream.set(limit(faults['ignored-from-clamped'], { path: '/company' }));
    const [first] = upstream.records['/company'];
    const it = await openWriter({ baseUrl: upstream.url, key: 'any' });
    const byName = await it.upsert({ external_id: 'opp-1', company: first?.name });
    expect(byName).toMatchObject({ isError: true });
    expect(byName.text).toMatch(/Only 10 of 60 .* not certain that just one company is called/);
    expect(byName.text).toContain(String(first?.id));
    const byId = await it.upsert({ external_id: 'opp-1', company: first?.id });
    expect(byId.changes).toMatchObject([{ to: `${first?.name} (${first?.id})` }]);
  });
});

describe('the opportunity to write', () => {
  const upsert = async (args: Row) => (await writer()).upsert(args);

  test('is not created for an unknown external identifier without `create`', async () => {
    expect((await upsert({ external_id: 'STRAY-1', name: 'x' })).text).toMatch(
      /No opportunity has the external identifier "STRAY-1"\. To make a new one, say create: true/,
    );
  });

  test.each(['opportunity_id', 'external_id'])('is refused when deleted, by %s', async (by) => {
    const id = `Deleted${by.padEnd(13, '0').slice(0, 13)}`;
    const row = {
      id,
      name: 'Was',
      externalIdentifier: `D-${by}`,
      deletedAt: '2026-01-01T00:00:00Z',
    };
    await put('opportunity', row);
    const wanted = by === 'external_id' ? `D-${by}` : id;
    expect((await upsert({ [by]: wanted, name: 'x' })).text).toMatch(/has been deleted/);
    const create = { external_id: `D-${by}`, create: true, name: 'x' };
    expect((await upsert(create)).text).toMatch(/has been deleted/);
  });

  test.each(['.', '..', 'ASK\u200b-1', 'ASK\u0007'])(
    'is refused with the identifier %j',
    async (external_id) => {
      const { text, isError } = await upsert({ external_id, create: true, name: 'x' });
      expect(isError).toBe(true);
      expect(text).toMatch(/cannot be an identifier|is invisible/);
    },
  );
});

describe('values of fields', () => {
  const upsert = async (args: Row) =>
    (await writer()).upsert({ opportunity_id: (await opportunity()).id, ...args });

  test.each([
    [{ probability: 40 }, /^probability: must be 0–1; did you mean 0\.4\?$/],
    [{ probability: '40' }, /did you mean 0\.4\?/],
    [{ probability: 140 }, /must be 0–1\.?$/],
    [{ probability: -0.1 }, /must be 0–1/],
    [{ expected_close_date: '2031-02-30' }, /expected_close_date: must be a date that exists/],
    [{ start_date: '2031-13-01' }, /must be a date that exists/],
    [{ start_date: '01.02.2031' }, /must be a date that exists/],
    [{ start_date: '2031-02-28T10:00:00Z' }, /must be a date that exists/],
    [{ onetime_revenue: -1 }, /onetime_revenue/],
    [{ onetime_revenue: 'a lot' }, /onetime_revenue/],
    [{ value_months: 1.5 }, /value_months/],
    [{ description: ' \n ' }, /must not be blank/],
    [{ custom_fields: ['no equals sign'] }, /must be name=value/],
    [{ custom_fields: ['=x'] }, /must be name=value/],
    [{ monthly_churn: 1 }, /Unknown argument "monthly_churn"/],
  ])('%j is refused', async (args, words) => {
    const answer = await upsert(args);
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toMatch(words);
  });

  test('may be numbers as text', async () => {
    const { changes } = await upsert({ probability: '0.25', onetime_revenue: '1234.5' });
    expect(changes).toMatchObject([
      { field: 'probability', to: 0.25 },
      { field: 'onetime_revenue', to: 1234.5 },
    ]);
  });

  test('keep their type in custom fields, whose names are found in any letter case', async () => {
    const { id, customFields } = await opportunity();
    const fields = customFields as Row;
    const [name, value] = Object.entries(fields).find(([, it]) => typeof it === 'number') ?? [];
    if (name === undefined) throw new Error('no custom field with a number');
    const more = [`${name.toUpperCase()}=${Number(value) + 1}`, 'Brand new=5'];
    const { preview } = await (await writer()).upsert({ opportunity_id: id, custom_fields: more });
    expect(preview).toContain(`“${name}” ${value} → ${Number(value) + 1}`);
    expect(preview).toContain('“Brand new” (empty) → “5”');
    const same = await (await writer()).upsert({
      opportunity_id: id,
      custom_fields: [`${name}=${value}`, 'Not there='],
    });
    expect(same.outcome).toBe('no_change');
  });
});
