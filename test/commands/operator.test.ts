import { expect, test } from 'vitest';
import { openClient } from '../../src/commands/own-client.ts';
import { readSettings } from '../../src/config.ts';
import { fileIn } from '../support/access.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { runHere as run, run as runProcess } from '../support/process.ts';
import { newFolder } from '../support/shared.ts';

const { address, sql } = embeddedTenant();
const state = newFolder();

const environment = async () => {
  const { baseUrl, key } = await address('all');
  return { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_STATE_DIR: state };
};

/** The rows that are exported. */
const rowsOf = async (...words: string[]) =>
  JSON.parse((await run(['export', ...words, '--json'], await environment())).stdout).rows;

test('the rows of an answer are printed as CSV or JSON, as the resource gives them', async () => {
  const env = await environment();
  const words = ['export', 'cpq_list_companies', 'sort=name', 'size=3'];
  const csv = await run(words, env);
  expect([csv.status, csv.stderr]).toEqual([
    0,
    expect.stringMatching(/^The file has 3 of \d+ rows/),
  ]);
  const [header = '', ...lines] = csv.stdout.trimEnd().split('\r\n');
  expect(header).toMatch(/^\uFEFFid,name/);
  expect(lines).toHaveLength(3);
  const { rows, notes } = JSON.parse((await run([...words, '--json'], env)).stdout);
  expect([rows.length, notes.length]).toEqual([3, expect.any(Number)]);
  for (const [at, { id }] of rows.entries()) expect(lines[at]).toContain(id);
  const [first] = await rowsOf('cpq_brief_pipeline', 'by=owner');
  expect(first).toMatchObject({ name: expect.any(String), count: expect.any(Number) });
});

test('the operator lists changes, and takes one back after agreeing to the difference', async () => {
  const env = await environment();
  const [deal] = await rowsOf('cpq_list_opportunities', 'size=1', 'detail=full');
  const settings = readSettings(['--allow-writes'], env);
  const writer = await openClient(settings, undefined, async () => true);
  const renamed = { opportunity_id: deal.id, name: 'Renamed by a test' };
  await writer.ask('cpq_upsert_opportunity', renamed);
  await writer.close();
  const listed = await run(['changes'], env);
  expect(listed.stdout).toContain('Renamed by a test');
  const before = await run(['changes', 'until=2020-01-01'], env);
  expect([before.status, before.stdout]).toEqual([0, expect.stringContaining('No changes')]);
  const [, id = ''] = /^change_id {2,}at [^\n]*\n(chg_\w+) {2,}/m.exec(listed.stdout) ?? [];
  const token = `cpq_${'a'.repeat(12)}_${'b'.repeat(43)}`;
  await sql(`update company set name = '${token}' where tenant = ?1
    and id = (select companyId from opportunity where id = '${deal.id}')`);
  const undo = (answer: string) => run(['changes', 'undo', id], env, answer);
  for (const no of ['', 'yesterday']) expect((await undo(no)).stdout).toContain('declined');
  const declined = await undo('no');
  expect(declined.stderr).toContain('Write exactly this?');
  expect(declined.stderr).toContain('of “[key]”');
  expect(declined.stdout).toContain('declined');
  const done = await undo('yes');
  expect([done.status, done.stdout]).toEqual([0, expect.stringContaining(String(deal.name))]);
  const [{ name }] = await rowsOf('cpq_list_opportunities', `filters=id:${deal.id}`);
  expect(name).toBe(deal.name);
});

test.each(['cpq_find', '-cpq_revert_change'])(
  'a change of a tenant that only reads is taken back, with the tools %s',
  async (tool) => {
    const { CPQ_BASE_URL, CPQ_API_KEY, CPQ_STATE_DIR } = await environment();
    const of = { baseUrl: CPQ_BASE_URL, apiKey: CPQ_API_KEY, grants: ['read'], tools: [tool] };
    const file = await fileIn(newFolder(), 'tenants.json', { tenants: { default: of } });
    const env = { CPQ_TENANTS_FILE: file, CPQ_STATE_DIR };
    const [id = ''] = /chg_\w+/.exec((await run(['changes'], env)).stdout) ?? [];
    const asked = await run(['changes', 'undo', id], env, 'no\n');
    expect([asked.stderr, asked.stdout]).toEqual([
      expect.stringContaining('Write exactly this?'),
      expect.stringContaining('declined'),
    ]);
  },
);

test('what a file leaves out is said beside it', async () => {
  const words = ['export', 'cpq_list_companies', 'filters=type:nothing'];
  const { status, stdout, stderr } = await run(words, await environment());
  expect([status, stdout.trim(), stderr]).toEqual([0, '', expect.stringContaining('nothing')]);
});

test('markup in a record is text in a file, also in the first one of a process', async () => {
  await sql(`update company set name = '<b>!Bold</b>' where tenant = ?1
    and id = (select min(id) from company where tenant = ?1)`);
  const words = ['export', 'cpq_list_companies', 'filters=name:~!Bold', 'fields=name'];
  const { stdout } = await runProcess(words, await environment());
  expect(stdout).toMatch(/,!Bold\r\n$/);
});

test('of several tenants one is named', async () => {
  const { CPQ_BASE_URL, CPQ_API_KEY, CPQ_STATE_DIR } = await environment();
  const of = { baseUrl: CPQ_BASE_URL, apiKey: CPQ_API_KEY };
  const file = await fileIn(newFolder(), 'tenants.json', { tenants: { acme: of, globex: of } });
  const env = { CPQ_TENANTS_FILE: file, CPQ_STATE_DIR };
  const unnamed = await run(['changes'], env);
  expect([unnamed.status, unnamed.stderr]).toEqual([2, expect.stringContaining('acme, globex')]);
  expect(await run(['changes', '--tenant', 'acme'], env)).toMatchObject({ status: 0 });
});

test.each([
  [['export'], 2, 'Use: cpq-mcp export'],
  [['export', 'cpq_list_companies', 'sort'], 2, 'Use: cpq-mcp export'],
  [['export', 'cpq_upsert_opportunity'], 1, 'No rows to export'],
  [['export', 'cpq_list_opportunities', '--grants=company:read'], 1, 'No rows to export'],
  [['export', 'cpq_list_quotes', '--tools=cpq_find'], 1, 'No rows to export'],
  [['changes', 'undo'], 2, 'Use: cpq-mcp changes'],
  [['changes', 'undo', 'unknown'], 1, 'unknown'],
])('refuses %j', async (words, status, message) => {
  const ended = await run(words, await environment());
  expect([ended.status, ended.stderr]).toEqual([status, expect.stringContaining(message)]);
});
