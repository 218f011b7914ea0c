/** The days of the pipeline that can be compared, with their totals, as a CSV file. */
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { type Day, utcDay } from '../figures/days.ts';
import { type CurrencyOf, currenciesOf } from '../figures/money.ts';
import { compact } from '../figures/naming.ts';
import { type KeptDay, keptTotals } from '../history/day-totals.ts';
import { openQuotesByDay } from '../history/quote-changes.ts';
import type { ToolCall } from '../tenant/call.ts';
import { readCollections } from '../tenant/read-collections.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { type Wording, wording } from '../text/untrusted-text.ts';
import { historyUri } from '../tool-kit/resources.ts';
import { csvContents } from './csv.ts';

/** @throws NotGranted, ApiError */
export async function readHistory(tenant: Tenant, call: ToolCall): Promise<ReadResourceResult> {
  const read = await readCollections(tenant, ['opportunity'], ['company'], call);
  const history = await tenant.history('opportunity');
  const { coverage, records } = read;
  const present = coverage.complete
    ? { day: utcDay(coverage.asOf), records: records.opportunity ?? [] }
    : undefined;
  const days = (await history?.days()) ?? [];
  const currencyOf = currenciesOf(records.company ?? []);
  const rows = history ? await keptTotals(history, days, present, currencyOf) : [];
  const notes = [...historyNotes(rows, history !== undefined, coverage.complete), ...read.omitted];
  const quotes = await openQuotes(tenant, currencyOf);
  const file = rows.map((row) => ({ ...row, ...quotes.get(row.day) }));
  return withoutSecrets(csvContents(historyUri, file, notes));
}

/** Columns about the open quotes, by day, where the quotes may be read. */
async function openQuotes(tenant: Tenant, currencyOf: CurrencyOf): Promise<Map<Day, object>> {
  const history = tenant.grants.has('quote:read') ? await tenant.history('quote') : undefined;
  const totals = history ? await openQuotesByDay(history, currencyOf) : [];
  return new Map(
    [...totals].map(([day, { count: quotes, value, unknownValue }]) => [
      day,
      compact({ quotes, quotesFirstYearValue: value, quotesOfUnknownValue: unknownValue }),
    ]),
  );
}

const notKept = wording`No history of the pipeline is kept: the operator of this server has turned it off.`;
const notWhole = wording`The opportunities could not be read completely now: there are snapshots only.`;

function historyNotes(rows: readonly KeptDay[], isKept: boolean, isWhole: boolean): Wording[] {
  const without = rows.filter(({ count }) => count === undefined).length;
  return [
    ...(isKept ? [] : [notKept]),
    ...(isWhole ? [] : [notWhole]),
    ...(without > 0 ? [wording`${without} of ${rows.length} days are without totals.`] : []),
  ];
}
