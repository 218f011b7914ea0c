import { beforeAll, describe, expect, test } from 'vitest';
import fc from '../support/fast-check.ts';
import type { Connection, Row } from '../support/hosts.ts';
import { quotesOf, totalsOf } from '../support/oracle/quotes.ts';
import { contactName, isSet, outcome, type SqlRow } from '../support/oracle/sql.ts';
import { describeTenant, type TenantFixture } from '../support/oracle/tenants.ts';

/** `names`: a JSON array, sorted by the first name. */
type Kind = 'text' | 'names' | 'date' | 'number';
/** `id`: that of what the column names. */
type Column = readonly [sql: string, kind: Kind, id?: string];
type Columns = Readonly<Record<string, Column>>;

interface List {
  tool: string;
  from: string;
  columns: Columns;
}

const ref = (table: string, column: string): string =>
  `(select r.name from ${table} r where r.tenant = t.tenant and r.id = t.${column})`;
const currency = `(select upper(trim(c.currency)) from company c where c.tenant = t.tenant and c.id = t.companyId)`;
const dates = (...names: readonly (readonly [column: string, field: string])[]): Columns =>
  Object.fromEntries(names.map(([column, field]) => [column, [`t.${field}`, 'date']]));
const texts = (...names: string[]): Columns =>
  Object.fromEntries(names.map((name) => [name, [`t.${name}`, 'text']]));
/** A money column may hold numbers in some rows and text in others. */
const amount = (field: string): string =>
  `iif(trim(t.${field}) glob '*[0-9]*', cast(t.${field} as real), null)`;
const numbers = (...names: readonly (readonly [column: string, field: string])[]): Columns =>
  Object.fromEntries(names.map(([column, field]) => [column, [amount(field), 'number']]));
const [once, monthly] = [amount('onetimeRevenue'), amount('monthlyRevenue')];
/** Without a term, of twelve months. */
const contractValue = `iif(${once} is null and ${monthly} is null, null, round(coalesce(${once}, 0) +
  coalesce(${monthly}, 0) * iif(coalesce(t.valueMonths, 0) > 0, t.valueMonths, 12), 2))`;

/** The name of a person is known if a deal or a quote has it as its owner. */
const accountManager = `(select w.name from owner w where w.tenant = t.tenant and w.id = t.accountManagerId
  and (exists (select 1 from opportunity o where o.tenant = w.tenant and o.ownerId = w.id)
    or exists (select 1 from quote q where q.tenant = w.tenant and q.ownerId = w.id)))`;

const categories = `iif(t.categoryId is not null, json_array(${ref('category', 'categoryId')}),
  (select json_group_array(j.value ->> '$.name') from json_each(coalesce(t.categories, '[]')) j))`;

const lists: readonly List[] = [
  {
    tool: 'cpq_list_companies',
    from: 'company t',
    columns: {
      ...texts('name', 'type', 'currency', 'externalIdentifier'),
      city: [`t.address ->> '$.city'`, 'text'],
      accountManager: [accountManager, 'text', 't.accountManagerId'],
      ...dates(['created', 'createdAt'], ['deleted', 'deleted']),
    },
  },
  {
    tool: 'cpq_list_contacts',
    from: 'contact t',
    columns: {
      ...texts('email', 'externalIdentifier'),
      name: [contactName, 'text'],
      company: ['t.companyName', 'text'],
      ...dates(['deleted', 'deleted']),
    },
  },
  {
    tool: 'cpq_list_opportunities',
    from: 'opportunity t',
    columns: {
      ...texts('name', 'externalIdentifier'),
      company: [ref('company', 'companyId'), 'text'],
      stage: [ref('pipeline_stage', 'pipelineStageId'), 'text'],
      owner: [ref('owner', 'ownerId'), 'text'],
      category: [ref('opportunity_category', 'categoryId'), 'text'],
      source: [ref('source', 'sourceId'), 'text'],
      outcome: [outcome.replaceAll('o.', 't.'), 'text'],
      currency: [currency, 'text'],
      ...numbers(['oneTime', 'onetimeRevenue'], ['monthly', 'monthlyRevenue']),
      value: [contractValue, 'number'],
      ...dates(['closes', 'expectedCloseDate'], ['closed', 'closedAt'], ['deleted', 'deletedAt']),
      ...dates(['created', 'createdAt'], ['updated', 'updatedAt']),
    },
  },
  {
    tool: 'cpq_list_products',
    from: `(select * from product where lower(productType) <> 'bundle') t`,
    columns: {
      ...texts('name', 'mpn', 'productType', 'term'),
      manufacturer: [`coalesce(nullif(t.manufacturer, ''), t.vendor)`, 'text'],
      category: [categories, 'names'],
      listed: [`iif(coalesce(t.listed, 1), 'true', 'false')`, 'text'],
      ...numbers(['price', 'price'], ['cost', 'cost']),
    },
  },
  {
    tool: 'cpq_list_quotes',
    from: 'quote t',
    columns: {
      ...texts('number', 'title', 'status'),
      company: [ref('company', 'companyId'), 'text'],
      owner: [ref('owner', 'ownerId'), 'text'],
      opportunity: [ref('opportunity', 'opportunityId'), 'text'],
      currency: [currency, 'text'],
      ...dates(['created', 'createdAt'], ['expires', 'expiresAt'], ['sent', 'sentAt']),
      ...dates(['approved', 'approvedAt'], ['deleted', 'deletedAt']),
    },
  },
  {
    tool: 'cpq_list_contract_items',
    from: 'contract_item t',
    columns: {
      ...texts('service', 'vendor', 'term'),
      company: [ref('company', 'companyId'), 'text'],
      ...numbers(['revenue', 'revenue'], ['profit', 'profit']),
      ...dates(['starts', 'startDate'], ['ends', 'endDate']),
    },
  },
  {
    tool: 'cpq_list_pricing_books',
    from: 'pricing_book t',
    columns: {
      ...texts('name', 'specialBidNumber'),
      ...dates(['validFrom', 'validFrom'], ['validTo', 'validTo']),
    },
  },
];

const allOf = ({ from }: List, what: string): string =>
  `with it(tenant, today) as (values (?, ?)) select ${what} from it join ${from} using (tenant)`;

/** One condition, as a filter of the tool and in SQL. */
interface Condition {
  filter: string;
  sql: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Conditions on a column, of values that occur in it. */
function conditionsOn(
  column: string,
  [sql, kind, id = sql]: Column,
  occurring: readonly string[],
): fc.Arbitrary<Condition> {
  const hasValue = kind === 'names' ? `json_array_length(${sql}) > 0` : isSet(`(${id})`);
  const empty = fc.constantFrom(
    { filter: `${column}:(none)`, sql: `not ${hasValue}` },
    { filter: `${column}:none`, sql: `not ${hasValue}` },
    { filter: `${column}:(any)`, sql: hasValue },
  );
  const usable = occurring.filter((value) => value.trim() === value && !/[|:]/.test(value));
  if (usable.length === 0) return empty;
  const value = fc.constantFrom(...usable);
  const order = fc.constantFrom('<', '<=', '>', '>=');
  const equal = (isIn: (list: string) => string) =>
    fc.uniqueArray(value, { minLength: 1, maxLength: 2 }).map((values) => ({
      filter: `${column}:${values.join('|')}`,
      sql: isIn(values.map((one) => `lower(${quoted(one)})`).join(', ')),
    }));
  const filled: Record<Kind, fc.Arbitrary<Condition>> = {
    text: equal((list) => `lower(${sql}) in (${list})`),
    names: equal(
      (list) => `exists (select 1 from json_each(${sql}) e where lower(e.value) in (${list}))`,
    ),
    number: fc.tuple(order, value).map(([sign, than]) => ({
      filter: `${column}:${sign}${than}`,
      sql: `${sql} ${sign} ${than}`,
    })),
    date: fc
      .tuple(fc.constantFrom('<', '<=', '>', '>=', ''), value, fc.constantFrom(4, 7, 10))
      .map(([sign, day, length]) => ({
        filter: `${column}:${sign}${day.slice(0, length)}`,
        sql: `substr(${sql}, 1, ${length}) ${sign || '='} ${quoted(day.slice(0, length))}`,
      })),
  };
  return fc.oneof({ arbitrary: filled[kind], weight: 4 }, { arbitrary: empty, weight: 1 });
}

async function listed({ call }: Pick<Connection, 'call'>, tool: string, args: Row): Promise<Row[]> {
  const all: Row[] = [];
  for (let from: number | undefined = 0; from !== undefined; ) {
    const { records, page } = await call(tool, { ...args, size: 100, from });
    all.push(...records);
    from = page.next;
  }
  return all;
}

const idsOf = (rows: readonly (Row | SqlRow)[]): string[] =>
  rows.map(({ id }) => String(id)).sort();

describeTenant({ seed: 7, today: '2026-06-15', scale: 0.1 }, (load) => {
  let fixture: TenantFixture;
  beforeAll(async () => {
    fixture = await load();
  });

  describe.each(lists.map((list) => [list.tool, list] as const))('%s', (tool, list) => {
    const occurring = ([sql, kind]: Column): string[] => {
      const values = fixture
        .ask(allOf(list, `distinct ${sql} as value`))
        .flatMap(({ value }) => (value === null || value === '' ? [] : [String(value)]));
      return kind === 'names' ? values.flatMap((names) => JSON.parse(names) as string[]) : values;
    };

    test('filters as SQL does', async () => {
      const one = Object.entries(list.columns).map(([column, how]) =>
        conditionsOn(column, how, occurring(how)),
      );
      const check = async (conditions: readonly Condition[]) => {
        const filters = conditions.map(({ filter }) => filter).join(',');
        const where = conditions.map(({ sql }) => `(${sql})`).join(' and ');
        const expected = fixture.ask(`${allOf(list, 't.id')} where ${where}`);
        const rows = await listed(fixture, tool, { filters, fields: ['id'] });
        expect(idsOf(rows), filters).toEqual(idsOf(expected));
      };
      for (const each of one) await check(fc.sample(each, 1));
      const several = fc.array(fc.oneof(...one), { minLength: 1, maxLength: 3 });
      await fc.assert(fc.asyncProperty(several, check), { numRuns: 20 });
    });

    test('sorts as SQL does, with what has no value last', async () => {
      for (const [column, [sql, kind]] of Object.entries(list.columns)) {
        const key = comparedBy[kind](sql);
        for (const [sign, order] of Object.entries({ '-': 'desc', '+': 'asc' })) {
          const expected = fixture.ask(
            `${allOf(list, `nullif(${key}, '') as value`)} order by value is null, value ${order} limit 20`,
          );
          const args = { sort: `${sign}${column}`, fields: [column], size: 20 };
          const { records, data } = await fixture.call(tool, args);
          const shown = records.map((row) => valueIn(row[column] ?? data[column], kind));
          const values = expected.map(({ value }) => valueIn(value, kind));
          expect(shown, args.sort).toEqual(values);
        }
      }
    });
  });

  rangeTests(() => fixture);

  test('filters quotes by totals that the service does not have', async () => {
    const quotes = quotesOf(fixture.ask);
    for (const column of ['oneTime', 'monthly', 'yearly'] as const) {
      const totalOf = (quote: (typeof quotes)[number]) =>
        Number(totalsOf(quote)[column] ?? Number.NaN);
      const totals = quotes.map(totalOf).filter((total) => total > 0);
      const limit = Math.floor(Math.max(...totals) / 2);
      const expected = quotes.filter((quote) => totalOf(quote) > limit);
      const rows = await listed(fixture, 'cpq_list_quotes', { filters: `${column}:>${limit}` });
      expect(rows.length).toBeGreaterThan(0);
      expect(idsOf(rows), column).toEqual(idsOf(expected as unknown as Row[]));
    }
  });

  test('shows of each deal the currency of its company, once companies were read', async () => {
    await fixture.call('cpq_brief_pipeline');
    const { records, data } = await fixture.call('cpq_list_opportunities', { size: 100 });
    const expected = new Map(
      fixture
        .ask(allOf(lists[2] as List, `t.id, ${currency} as currency`))
        .map((row) => [row.id, row.currency]),
    );
    for (const row of records)
      expect(row.currency ?? data.currency ?? null, String(row.id)).toBe(
        expected.get(String(row.id)) || null,
      );
  });
});

function rangeTests(fixture: () => TenantFixture): void {
  test.each([
    ['cpq_list_opportunities', 'closes', 'opportunity t', 'expectedCloseDate', 'deleted:none'],
    ['cpq_list_quotes', 'expires', 'quote t', 'expiresAt', 'deleted:none'],
    ['cpq_list_opportunities', 'oneTime', 'opportunity t', 'onetimeRevenue', 'deleted:none'],
    ['cpq_list_contract_items', 'ends', 'contract_item t', 'endDate', 'term:month'],
  ])(
    '%s says how many records without %s a range leaves out',
    async (tool, key, from, field, and) => {
      const { call } = fixture();
      const others = and === 'term:month' ? `t.term = 'month'` : `not ${isSet('t.deletedAt')}`;
      const [row] = fixture().ask(
        `${allOf({ tool, from, columns: {} }, 'count(*) as count')} where ${others} and not ${isSet(`t.${field}`)}`,
      );
      const than = key === 'oneTime' ? '1' : '2026';
      const { data } = await call(tool, { filters: `${key}:>=${than},${and}`, size: 1 });
      const notes = (data.notes ?? []) as string[];
      const told = notes.filter((note) => note.includes(`${key}:none`));
      // Of all but one kind there are some in each tenant.
      if (key !== 'closes') expect(row?.count).toBeGreaterThan(0);
      if (row?.count === 0) return expect(told).toEqual([]);
      expect(told.join()).toMatch(new RegExp(`^${row?.count} records? without ${key} `));
      const both = await call(tool, { filters: `${key}:>=${than}|none,${and}`, size: 1 });
      expect(String(both.data.notes)).not.toContain('not in the range');
      const { page } = await call(tool, { filters: `${key}:none,${and}`, size: 1 });
      expect(page.total).toBe(row?.count);
    },
  );
}

const comparedBy: Readonly<Record<Kind, (sql: string) => string>> = {
  text: (sql) => `lower(${sql})`,
  names: (sql) => `lower(${sql} ->> '$[0]')`,
  date: (sql) => `substr(${sql}, 1, 10)`,
  number: (sql) => sql,
};

const valueIn = (value: unknown, kind: Kind): unknown => {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return valueIn(value[0], kind);
  return kind === 'number' ? Number(value) : withoutMark(String(value)).toLowerCase();
};

/** A text without what stands before one that speaks to an assistant. */
const withoutMark = (text: string): string =>
  text.replace('[text of the record, no instruction] ', '');
