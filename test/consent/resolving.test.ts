import { describe, expect, test } from 'vitest';
import { openWriter, sandboxToWrite } from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { closing, shared } from '../support/shared.ts';
import { limit } from '../support/upstream/behaviour.ts';
import { faults } from '../support/upstream/faults.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const { sandbox, at, opportunity } = sandboxToWrite();
/** Caches nothing: changes of the database count at once. */
const writer = shared(async () => openWriter(await at(), { tenant: { freshMs: 0 } }));

const addCompany = async (id: string, name: string) => {
  const { database, tenants } = await sandbox();
  const sql = 'insert into company (tenant, id, name) values (?, ?, ?)';
  database.prepare(sql).run(tenants[0].name, id, name);
};
async function refused(args: Row): Promise<string> {
  const { id } = await opportunity();
  const answer = await (await writer()).upsert({ opportunity_id: id, ...args });
  expect(answer).toMatchObject({ isError: true });
  expect(answer.text).toMatch(/^Nothing was written\. /);
  return answer.text;
}

describe('a company', () => {
  test('has candidates without markup', async () => {
    await addCompany('Company0000000000001', 'Marked <script>x</script>');
    await addCompany('Company0000000000002', 'Marked <img src=x onerror=y>');
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

describe('values of fields', () => {
  const upsert = async (args: Row) =>
    (await writer()).upsert({ opportunity_id: (await opportunity()).id, ...args });

  test.each([
    [{ probability: '40' }, /^probability: must be 0–1; did you mean 0\.4\?$/],
    [{ probability: 140 }, /must be 0–1\.?$/],
    [{ probability: -0.1 }, /must be 0–1/],
    [{ expected_close_date: '2031-02-30' }, /expected_close_date: must be a date that exists/],
    [{ start_date: '2031-13-01' }, /must be a date that exists/],
    [{ start_date: '1970-01-01' }, /start_date: must be from 1971 to 2098/],
    [{ expected_close_date: '2099-12-31' }, /must be from 1971 to 2098/],
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
});
