import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { inField, inRecords } from '../support/compatibility/rewrite.ts';
import { startService } from '../support/compatibility/service.ts';
import type { Named } from '../support/compatibility/stored-data.ts';
import { wireVariations } from '../support/compatibility/wire.ts';
import type { Row } from '../support/hosts.ts';
import { runHere } from '../support/process.ts';
import { closing, newFolder } from '../support/shared.ts';
import type { Rewrite } from '../support/upstream/behaviour.ts';

/** What doctor proposes for the file of fields, pasted, makes the fields right. */

vi.setConfig({ maxConcurrency: 2 });

interface Field {
  field: string;
  read: number;
  of: number;
  unread?: number;
  mayBe?: string;
  lines?: string[];
}

async function examine(rewrite: () => Rewrite, lines: readonly string[] = []) {
  const service = closing(await startService({ rewrite }));
  const file = join(newFolder(), 'fields.txt');
  await writeFile(file, lines.join('\n'));
  const env = { CPQ_BASE_URL: service.url, CPQ_API_KEY: service.key, CPQ_FIELDS_FILE: file };
  const { stdout } = await runHere(['doctor', '--json'], env);
  const { fields, ok } = JSON.parse(stdout) as { fields: Field[]; ok: boolean };
  const odd = fields.filter(({ unread, mayBe }) => unread !== undefined || mayBe !== undefined);
  return { ok, fields, odd, lines: odd.flatMap((it) => it.lines ?? []), env };
}

const named = (name: string): (() => Rewrite) => {
  const { rewrite } = wireVariations.find((it) => it.name === name) ?? {};
  if (!rewrite) throw new Error(`no variation ${name}`);
  return rewrite;
};

/** By what differs: the lines to propose. */
const cases: Readonly<Record<string, readonly [() => Rewrite, readonly string[]]>> = {
  'another name': [named('closedAt: closeDate'), ['opportunity.closedAt = closeDate']],
  'another name of a list': [named('lineItems'), ['quote.items = lineItems']],
  'another name in a line': [named('quantity: qty'), ['quote.items.quantity = qty']],
  'another name of a term': [named('billingPeriod'), ['quote.items.term = billingPeriod']],
  'a list inside another field': [named('items.data'), ['quote.items = items.data']],
  'an amount inside its field': [
    named('price of a line: {amount, currency}'),
    ['quote.items.price = price.amount'],
  ],
  'an amount inside another field': [
    named('one-time revenue in money'),
    ['opportunity.onetimeRevenue = money.oneTime'],
  ],
  'other parts of a reference': [
    named('opportunity.company: {key, text}'),
    ['opportunity.company.id = company.key', 'opportunity.company.name = company.text'],
  ],
  'an id by another name': [
    inField('/contact', 'companyId', (id) => ({ accountId: id })),
    ['contact.companyId = accountId'],
  ],
  'a reference in a list': [
    inField('/opportunity', 'pipelineStage', (stage) => ({ pipelineStage: [stage as Named] })),
    ['opportunity.pipelineStage = pipelineStage.0'],
  ],
  'a mark that says that a record is there': [
    named('opportunity: active: false'),
    ['opportunity.deleted = active in [false]'],
  ],
  'a mark by another name': [
    named('product status inactive'),
    ['product.listed = status in [active]'],
  ],
  'a field inside another': [
    inRecords('/opportunity', ({ deletedAt, ...row }: Row) => ({ ...row, meta: { deletedAt } })),
    ['opportunity.deletedAt = meta.deletedAt'],
  ],
};

describe.concurrent('the proposed lines make the field right', () => {
  test.for(Object.entries(cases))('%s', async ([, [rewrite, expected]], { expect }) => {
    const before = await examine(rewrite);
    expect(before.lines).toEqual(expected);
    const after = await examine(rewrite, before.lines);
    expect(after.odd).toEqual([]);
    for (const line of expected) {
      const field = line.split(' = ')[0]?.replace(/\.(id|name)$/, '');
      const found = after.fields.find((it) => it.field === field);
      expect(found?.read, line).toBeGreaterThan(0);
    }
  });
});

test('words that are not known need an operator, and are named', async () => {
  const { odd, ok } = await examine(named('outcome as codes'));
  expect(ok).toBe(false);
  expect(odd).toMatchObject([{ field: 'opportunity.statusId' }]);
  expect(odd[0]?.lines).toEqual([expect.stringMatching(/^# won = statusId in \[…\].*\b4\b/)]);
});

test('what could be another line of the file, or cannot be written in it, is not proposed', async () => {
  const rewrite = inRecords('/opportunity', ({ closedAt, ...row }) => ({
    ...row,
    ...(closedAt === undefined ? {} : { 'closed at\nwon = name': closedAt }),
    statusId: `${row.statusId}\nlost = name`.replace(/won|lost/, 'x'),
  }));
  const { odd, lines, env } = await examine(rewrite);
  expect(odd.map(({ field }) => field)).toContain('opportunity.closedAt');
  expect(lines.filter((line) => !line.startsWith('#'))).toEqual([]);
  const { stdout } = await runHere(['doctor'], env);
  expect(stdout).not.toMatch(/^(won|lost) = name/m);
});

test('the report has what needs a look, and a count of the rest', async () => {
  const { env } = await examine(named('closedAt: closeDate'));
  const { stdout } = await runHere(['doctor'], env);
  expect(stdout).toMatch(
    /\n\d+ fields were read as documented\. Others:\n {2}opportunity\.closedAt: in 0 of \d+; "closeDate" may be it, such as "/,
  );
  expect(stdout).toContain('\nopportunity.closedAt = closeDate\n');
  expect(stdout).not.toContain('opportunity.source');
});
