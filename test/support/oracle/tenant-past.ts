import { addDays } from '../../../src/figures/days.ts';
import { compact } from '../../../src/figures/fields.ts';
import type { CurrencyOf } from '../../../src/figures/money.ts';
import { generatedPast } from '../../../src/history/generated-history.ts';
import type { PipelineHistory, SnapshotReader } from '../../../src/history/history.ts';
import type { ChangeOptions, PipelineState } from '../../../src/history/pipeline-changes.ts';
import fc from '../fast-check.ts';
import type { Sandbox } from '../sandbox.ts';
import type { AskedChanges } from './pipeline-changes.ts';
import type { Ask, Rows } from './sql.ts';

/** The past of a tenant of the sandbox, as this server reads it and in its database. */
export interface TenantPast {
  ask: Ask;
  days: readonly string[];
  /** Reads each day once. */
  reader: SnapshotReader;
  statesOf(from: string, to: string): Promise<{ opening: PipelineState; closing: PipelineState }>;
  currencyOf: CurrencyOf;
  /** Arbitrary filters; those by id use an id that occurs. */
  filters: fc.Arbitrary<AskedChanges>;
}

export function tenantPast(sandbox: Sandbox, at: number, today: string): TenantPast {
  const { database, tenants } = sandbox;
  const name = tenants[at]?.name ?? '';
  const ask: Ask = (sql, ...more) => database.prepare(sql).all(name, ...more) as Rows;
  const reader = readerOf(generatedPast(sandbox.past(name)).opportunity);
  const stateOf = async (day: string) => ({
    day,
    records: (await reader.read(day))?.records ?? [],
  });
  return {
    ask,
    days: sandbox.past(name).days(),
    reader,
    statesOf: async (from, to) => ({ opening: await stateOf(from), closing: await stateOf(to) }),
    currencyOf: currencies(ask),
    filters: anyFilters(ask, today),
  };
}

function readerOf(history: PipelineHistory): SnapshotReader {
  const reader = history.reader();
  const known = new Map<string, ReturnType<SnapshotReader['read']>>();
  return {
    read(day) {
      const snapshot = known.get(day) ?? reader.read(day);
      known.set(day, snapshot);
      return snapshot;
    },
  };
}

function currencies(ask: Ask): CurrencyOf {
  const rows = ask(`select id, upper(trim(currency)) as currency from company
    where tenant = ? and coalesce(trim(currency), '') <> ''`);
  return new Map(rows.map(({ id, currency }) => [String(id), String(currency)]));
}

function anyFilters(ask: Ask, today: string): fc.Arbitrary<AskedChanges> {
  const oneOf = (column: string) => {
    const rows = ask(
      `select distinct ${column} as id from opportunity where tenant = ? and ${column} is not null`,
    );
    return fc.constantFrom(...rows.map(({ id }) => String(id)).sort());
  };
  const near = fc.integer({ min: -220, max: 200 }).map((days) => addDays(today, days));
  return fc.record(
    {
      owner: oneOf('ownerId'),
      company: oneOf('companyId'),
      stage: oneOf('pipelineStageId'),
      category: oneOf('categoryId'),
      source: oneOf('sourceId'),
      currency: fc.constantFrom(...new Set(currencies(ask).values()), 'unknown currency'),
      close_from: near,
      close_to: near,
      min_value: fc.constantFrom(0, 1, 1_000, 20_000.5, 100_000),
    },
    { requiredKeys: [] },
  );
}

/** The filters as the comparison takes them. */
export const optionsOf = (
  { currency: code, close_from, close_to, min_value, ...refs }: AskedChanges,
  currencyOf: CurrencyOf,
): ChangeOptions => ({
  ...Object.fromEntries(Object.entries(refs).map(([field, id]) => [field, { id }])),
  ...compact({
    currency: code === undefined ? undefined : { name: code },
    closeFrom: close_from,
    closeTo: close_to,
    minValue: min_value,
  }),
  currencyOf,
});
