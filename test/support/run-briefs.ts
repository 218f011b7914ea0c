import {
  type CheckFilters,
  type CheckName,
  type CheckOptions,
  examine,
  matching,
  reportOn,
} from '../../src/briefs/checks/checks.ts';
import { findQuotes, type QuotesOptions, quotesReport } from '../../src/briefs/quotes/quotes.ts';
import { compact } from '../../src/figures/fields.ts';
import type { Named } from '../../src/figures/naming.ts';
import { runSteps } from '../../src/figures/steps.ts';
import type { Opportunity, Quote, RecordLists } from '../../src/service/records/records.ts';
import { pageOf } from '../../src/tool-kit/rows.ts';

export type RunOptions = CheckOptions &
  CheckFilters & { kind?: Named; from?: number; maxRows?: number };

/** Runs a check at once, and reports the findings that the tool shows by default, or those of the options. */
export function runCheck(name: CheckName, data: RecordLists, options: RunOptions) {
  const { from = 0, maxRows = 15, kind, owner, company, status, ...about } = options;
  const matched = runSteps(matching(name, data, compact({ owner, company, status })));
  const { figures, total, rows } = runSteps(
    reportOn(runSteps(examine(name, matched, about)), kind),
  );
  const shown = rows(from, maxRows);
  const { from: start, ...page } = pageOf(shown.length, from, total);
  return { ...figures, ...(start > 0 && { from: start }), ...page, rows: shown };
}

/** The report on the quotes that match, as the tool makes it. */
export function* reportOnQuotes(
  quotes: readonly Quote[],
  deals: readonly Opportunity[],
  options: QuotesOptions,
) {
  return yield* quotesReport(yield* findQuotes(quotes, deals, options), options);
}
