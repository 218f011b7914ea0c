import { describe, expect, test } from 'vitest';
import { toCsv } from '../../src/mcp/export.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import fc from '../support/fast-check.ts';
import { type Connection, everyHostHere, open, type Row, serving } from '../support/hosts.ts';
import { sample } from '../support/sampling.ts';
import { closing } from '../support/shared.ts';
import { startUpstream } from '../support/upstream/upstream.ts';

const { address, sql } = embeddedTenant({ scale: 0.1 });

/** The cells of a file, parsed by RFC 4180 without the server's code. */
function parsed(csv: string): string[][] {
  const lines: string[][] = [];
  let rest = csv.slice(1);
  while (rest !== '') {
    const cells: string[] = [];
    for (let end = ','; end === ','; ) {
      const [all = '', quoted, plain, mark = ''] =
        /^(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/.exec(rest) ?? [];
      if (all === '') throw new Error(`not RFC 4180: ${rest.slice(0, 80)}`);
      cells.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'));
      rest = rest.slice(all.length);
      end = mark;
    }
    lines.push(cells);
  }
  return lines;
}

interface Contents {
  uri: string;
  mimeType: string;
  text: string;
}

async function exported({ request }: Connection, question: string) {
  const { contents } = (await request('resources/read', {
    uri: `cpq://export/${question}`,
  })) as unknown as { contents: Contents[] };
  const [file, notes] = contents;
  if (!file) throw new Error('no file');
  const [columns = [], ...lines] = parsed(file.text);
  const rows = lines.map((cells) =>
    Object.fromEntries(columns.map((name, at) => [name, cells[at]])),
  );
  return { file, columns, rows: rows as Row[], notes: notes?.text };
}

describe('a CSV file', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '=1+1',
      '+1 617',
      '-2',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      'a;=cmd()',
      'a\n=b',
      '"=1',
      ' =1',
      '＝1',
      '"";@x',
    ),
    fc
      .tuple(fc.string(), fc.constantFrom('=', '+', '-', '@', '\t', '\r'), fc.string())
      .map((it) => it.join('')),
  );

  test('is RFC 4180 with a byte order mark, and says what it was made of', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(text, fc.double({ noNaN: true })), { minLength: 1 }),
        (rows) => {
          const csv = toCsv(rows.map(([name, price]) => ({ name, price })));
          expect(csv.startsWith('\uFEFFname,price\r\n')).toBe(true);
          const [, ...lines] = parsed(csv);
          expect(lines).toHaveLength(rows.length);
          for (const [at, [name = '', price]] of lines.entries()) {
            expect(price).toBe(String(rows[at]?.[1]));
            const blanks = (it = '') => it.replace(/[\s⏎']+/g, '');
            expect(blanks(name)).toBe(blanks(rows[at]?.[0]));
          }
        },
      ),
    );
  });

  test('has no text that a spreadsheet takes for a formula, whatever ends a cell there', () => {
    fc.assert(
      fc.property(text, text, (name, field) => {
        const csv = toCsv([{ [field]: name, list: [name, field], nested: { [field]: name } }]);
        for (const cell of parsed(csv).flat()) {
          for (const part of cell.split(/[;\t\r\n]/))
            expect(part).not.toMatch(/^["\p{Zs}]*[=+\-@＝＋－＠]/u);
        }
      }),
      { numRuns: 300 },
    );
  });

  test.each([';', '\t', ',', '"', "'"])('quotes a text with %j', (mark) => {
    // Programs that separate by semicolons or tabs would otherwise begin a new cell.
    const [, line = ''] = toCsv([{ name: `a${mark}b`, price: 1 }]).split('\r\n');
    expect(line).toMatch(/^"a.*b",1$/);
  });

  test('keeps a negative number a number, and gives every currency its column', () => {
    const csv = toCsv([
      { profit: -5, value: { EUR: 1, USD: -2.5 }, more: true },
      { value: { EUR: 3 } },
    ]);
    expect(parsed(csv)).toEqual([
      ['profit', 'value EUR', 'value USD', 'more'],
      ['-5', '1', '-2.5', 'true'],
      ['', '3', '', ''],
    ]);
  });
});

for (const host of sample(everyHostHere, 4)) {
  test(`the rows of a list are read to the end, ${host.name}`, async () => {
    const it = await open({ at: address, on: host });
    const expected =
      await sql(`select t.id, c.name as company, upper(trim(c.currency)) as currency from opportunity t
        left join company c on c.tenant = t.tenant and c.id = t.companyId where t.tenant = ?`);
    const { file, rows, notes } = await exported(it, 'cpq_list_opportunities');
    expect(file.mimeType).toBe('text/csv');
    const inOrder = (all: readonly Row[]) =>
      all
        .map(({ id, company, currency }) => [id, company || null, currency || null].join(' '))
        .sort();
    expect(inOrder(rows)).toEqual(inOrder(expected));
    const unknown = expected.filter(({ currency }) => !currency).length;
    expect(unknown).toBeGreaterThan(1);
    expect(notes).toBe(`The currency of ${unknown} rows is unknown.`);
  });
}

const embedded = serving();

describe('an export', () => {
  const server = serving({ at: address });
  const refused = async (question: string): Promise<string> => {
    const uri = `cpq://export/${question}`;
    return server.request('resources/read', { uri }).then(
      () => {
        throw new Error(`${uri} was not refused`);
      },
      ({ message }: Error) => message,
    );
  };

  test('takes the arguments of the tool, and says what is not in the file', async () => {
    const question = 'cpq_list_quotes?filters=status%3Asent&sort=-oneTime&fields=number,oneTime';
    const { columns, rows } = await exported(await server(), question);
    expect(columns).toEqual(expect.arrayContaining(['id', 'number', 'oneTime']));
    const two = await exported(await server(), `${question}&size=2`);
    // A file has only the columns in which its rows have values.
    const shown = (some: readonly Row[]) =>
      some.map(({ id, number, oneTime }) => [id, number, oneTime]);
    expect(shown(two.rows)).toEqual(shown(rows.slice(0, 2)));
    expect(two.notes).toContain(
      `The file has 2 of ${rows.length} rows.\nThe next ones: the same with from=2.`,
    );
    const next = await exported(await server(), `${question}&from=2`);
    expect(shown(next.rows)).toEqual(shown(rows.slice(2)));
  });

  test('counts the rows of unknown currency on all of its pages', async () => {
    const it = await embedded();
    const { rows, notes } = await exported(it, 'cpq_list_opportunities');
    expect(rows.length).toBeGreaterThan(200);
    const unknown = rows.filter(({ currency }) => !currency).length;
    expect(unknown).toBeGreaterThan(1);
    expect(notes).toContain(`The currency of ${unknown} rows is unknown.`);
  });

  test('has the findings of a check and each table of a brief', async () => {
    const { data } = await server.call('cpq_check_sales_data', {
      check: 'stale_quotes',
      size: 100,
    });
    const { rows } = await exported(await server(), 'cpq_check_sales_data?check=stale_quotes');
    expect(rows.map(({ id }) => id)).toEqual((data.rows as Row[]).map(({ id }) => id));
    const groups = await exported(await server(), 'cpq_brief_pipeline?by=owner');
    const brief = await server.call('cpq_brief_pipeline', { by: 'owner' });
    expect(groups.rows.map(({ name, count }) => [name, Number(count)])).toEqual(
      (brief.data.groups as { rows: Row[] }).rows.map(({ name, count }) => [name, count]),
    );
    const overdue = await exported(await server(), 'cpq_brief_pipeline?table=overdue&rows=50');
    expect(overdue.columns).toContain('closes');
    expect(groups.notes).toMatch(/Other tables \(table=NAME\): .*\boverdue\b/);
    expect(overdue.notes ?? '').not.toContain('Other tables');
  });

  test('answers an address of nothing with what there is', async () => {
    expect(await refused('cpq_brief_pipeline?table=nothing')).toMatch(/Known: groups, /);
    expect(await refused('cpq_upsert_opportunity?name=x')).toMatch(/known are cpq_list_companies/);
    expect(await refused('cpq_list_quotes?filter=x')).toMatch(/Unknown argument "filter"/);
    expect(await refused('cpq_list_quotes?size=none')).toMatch(/whole number/);
    expect(await refused('cpq_brief_company?company=zzz')).toMatch(/No company is called/);
    const { records } = await server.call('cpq_brief_quote', { quote: 'Laptop' });
    const question = await refused('cpq_brief_quote?quote=Laptop');
    expect(records.length).toBeGreaterThan(1);
    for (const { id = '' } of records) expect(question).toContain(id);
  });

  test('has at most so many rows as are asked for, and 5,000', async () => {
    const upstream = closing(await startUpstream({ counts: { '/product': 5_100 } }));
    const server = await open({ at: upstream });
    for (const [size, count] of [
      ['', 5_000],
      ['?size=1', 1],
      ['?size=101', 101],
      ['?size=5100', 5_000],
    ] as const) {
      const { rows, notes } = await exported(server, `cpq_list_products${size}`);
      expect(rows.length).toBe(count);
      expect(notes).toContain(`The file has ${count} of 5100 rows.`);
    }
    for (const size of ['0', '-1', '1.5', 'x', 'NaN'])
      await expect(exported(server, `cpq_list_products?size=${size}`)).rejects.toThrow('whole');
  });

  test('is offered as a template', async () => {
    const { resourceTemplates } = (await server.request('resources/templates/list')) as unknown as {
      resourceTemplates: { name: string; uriTemplate: string }[];
    };
    const { uriTemplate } = resourceTemplates.find(({ name }) => name === 'export') ?? {};
    expect(uriTemplate).toMatch(/^cpq:\/\/export\/\{tool\}/);
  });
});

test('an export has the currency of each row, however many companies there are', async () => {
  const counts = { '/opportunity': 250, '/company': 250 };
  const { url, records, set } = closing(await startUpstream({ counts }));
  for (const [at, row] of records['/opportunity'].entries()) {
    const company: Row = { ...records['/company'][at], currency: 'EUR' };
    records['/company'][at] = company;
    Object.assign(row, { company: { id: company.id }, onetimeRevenue: 10, currency: undefined });
  }
  set({ onRequest: (_n, _upstream, { query }) => query.delete('filters') });
  const server = await open({ at: { url, key: 'export-key-02' } });
  const { rows } = await exported(server, 'cpq_list_opportunities');
  expect(rows.map(({ currency }) => currency)).toEqual(Array(250).fill('EUR'));
});

describe('the main table of an export', () => {
  test('has all deals of a brief and all quotes, page after page', async () => {
    const idsIn = async (where: string) =>
      (await sql(`select id from ${where} and tenant = ? and deletedAt is null`))
        .map(({ id }) => id)
        .sort();
    const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id).sort();
    const it = await open({ at: address });
    const deals = await exported(it, 'cpq_brief_pipeline?sections=deals&size=4000');
    expect(idsOf(deals.rows)).toEqual(await idsIn(`opportunity where outcome = 'open'`));
    const won = 'cpq_brief_pipeline?outcome=won&period_from=2000-01-01&table=records';
    expect(idsOf((await exported(it, won)).rows)).toEqual(
      await idsIn(`opportunity where outcome = 'won'`),
    );
    const later = await exported(it, `${won}&rows=2&size=3`);
    expect(later.rows).toHaveLength(3);
    expect(later.notes).toContain('The next ones: the same with deals_from=4.');
    const quotes = await exported(it, 'cpq_brief_quotes?table=quotes');
    expect(idsOf(quotes.rows)).toEqual(await idsIn('quote where true'));
  });

  test('has all groups, and of the changes of the pipeline what is asked for', async () => {
    const it = await embedded();
    for (const by of ['quote', 'owner', 'day']) {
      const question = `cpq_pipeline_changes?since=14d&by=${by}`;
      const { columns, rows, notes = '' } = await exported(it, question);
      const key = { quote: 'number', owner: 'new', day: 'day' }[by];
      expect(columns.join(' ')).toMatch(new RegExp(`(^| )${key}`));
      expect(rows.length, by).toBeGreaterThan(8);
      expect(notes).not.toContain('The file has');
    }
    const sent = await exported(it, 'cpq_pipeline_changes?since=14d&movement=sent');
    expect(sent.rows.every(({ movement }) => String(movement).includes('sent'))).toBe(true);
    const { rows } = await exported(it, 'cpq_brief_quotes?by=company');
    expect(rows.length).toBeGreaterThan(24);
    expect(rows.map(({ name }) => name)).not.toContainEqual(expect.stringMatching(/ others$/));
    const slipped = await exported(it, 'cpq_pipeline_changes?since=14d&movement=slipped');
    expect(slipped.columns).toContain('closes');
  });
});
