/** Checks of sales data: each has a name, a definition, and findings with the value at stake. */

import { type Day, requireDay } from '../../figures/days.ts';
import { type CurrencyOf, CurrencySums, rounded } from '../../figures/money.ts';
import {
  byName,
  compact,
  compare,
  type LimitedList,
  type Named,
  nonBlank,
  nonZero,
  nonZeroCounts,
} from '../../figures/naming.ts';
import { statusOfQuote } from '../../figures/quote-state.ts';
import { filterSteps, type ResultOf, type Steps, sortSteps } from '../../figures/steps.ts';
import { companyOf } from '../../names/company-reference.ts';
import { refersTo } from '../../names/name-filters.ts';
import type { RecordOf, Ref, Resource } from '../../service/records/records.ts';
import { keysOf } from '../../values.ts';
import { bundlesBelowParts } from './bundles.ts';
import {
  type Check,
  type CheckContext,
  type CheckData,
  type CheckParameters,
  ownerOf,
  type RawFinding,
} from './check.ts';
import { contractsRunningOut } from './contracts.ts';
import { countFindings } from './counts.ts';
import {
  missingCloseDates,
  opportunitiesWithoutQuote,
  stalledOpportunities,
} from './opportunities.ts';
import { belowCost, duplicateProducts, pricingDrift, thinMargins } from './products.ts';
import { expiringQuotes, quotesOfClosedDeals, staleQuotes, unlistedOnQuotes } from './quotes.ts';
import { contactsWithoutEmail, missingExternalIds } from './records.ts';
import { zeroPrices } from './zero-prices.ts';

export { type CheckData, ownerOf };

/** Every check by name, in the order in which the tool lists them. */
export const checks = {
  thin_margins: thinMargins,
  below_cost: belowCost,
  zero_prices: zeroPrices,
  bundles_below_parts: bundlesBelowParts,
  pricing_drift: pricingDrift,
  duplicate_products: duplicateProducts,
  stale_quotes: staleQuotes,
  expiring_quotes: expiringQuotes,
  quotes_of_closed_deals: quotesOfClosedDeals,
  unlisted_on_quotes: unlistedOnQuotes,
  contracts_running_out: contractsRunningOut,
  stalled_opportunities: stalledOpportunities,
  missing_close_dates: missingCloseDates,
  opportunities_without_quote: opportunitiesWithoutQuote,
  missing_external_ids: missingExternalIds,
  contacts_without_email: contactsWithoutEmail,
};

export type CheckName = keyof typeof checks;

export const checkNames = keysOf(checks);

/** Filters as `resolveFilters` resolved them: of the records to examine, and of the findings to show (`kind`). */
interface CheckFilters {
  owner?: Named;
  company?: Named;
  /** Status category of a quote, or stage of an opportunity. */
  status?: Named;
  kind?: Named;
}

export interface CheckOptions extends CheckParameters, CheckFilters {
  today: Day;
  currencyOf?: CurrencyOf;
}

/** Which findings are shown: so many from the position `from` on. */
interface Shown {
  from: number;
  maxRows: number;
}

/** The findings of a check in their order, before a part of them is shown. */
export type Examined = ResultOf<typeof examine>;
type CheckFinding = ReturnType<typeof toFinding>;

export type CheckReport = Examined['report'] &
  LimitedList<CheckFinding> & {
    from?: number;
    /** Position of the next finding that is not shown. */
    next?: number;
  };

/** No check reads a parameter that it has no default for. */
const unusedParameters = { floor: Number.NaN, days: Number.NaN, tolerance: Number.NaN };
/** Related records named in one finding. */
const maxRelated = 2;

/**
 * Runs one check over whole collections. Definitions: docs/definitions.md, "Checks".
 *
 * @throws RangeError if `today` is not a day, or `data` lacks a collection that the check needs.
 */
export function* examine(name: CheckName, data: CheckData, options: CheckOptions) {
  const check = checks[name];
  const missing = check.needs.filter((resource) => data[resource] === undefined);
  if (missing.length > 0) throw new RangeError(`${name} needs ${missing.join(', ')}`);
  const context = contextOf(check, options);
  const matched = yield* matching(check, data, options);
  const { findings: all, ...examined } = yield* check.examine(matched, context);
  const { kind } = options;
  const findings = yield* sortByValueAtStake(
    kind ? all.filter((each) => isOfKind(each, kind)) : all,
  );
  const counts = yield* countFindings(findings);
  const report = compact({
    check: name,
    definition: check.define(context),
    examined: examined.examined,
    of: examined.of,
    unit: check.unit,
    // Of all findings, where one can be about several.
    lines: check.parts === 'lines' ? nonZero(countParts(findings)) : undefined,
    products: check.parts === 'products' ? nonZero(countParts(findings)) : undefined,
    notChecked: nonZeroCounts(examined.notChecked),
    ...totalAtStake(check, findings),
    counts,
    // Absent where findings differ in it, which then have their own.
    currency: sharedCurrency(findings),
  });
  return { report, findings };
}

/** The report with the findings that are to be shown. */
export function reportOn({ report, findings }: Examined, { from, maxRows }: Shown): CheckReport {
  const rows = findings
    .slice(from, from + maxRows)
    .map((finding) => toFinding(finding, report.currency));
  const found = { ...report, ...compact({ from: nonZero(from) }) };
  return withFewerRows({ ...found, shown: rows.length, total: findings.length, rows }, maxRows);
}

/** The same report with at most so many findings. */
export function withFewerRows(report: CheckReport, maxRows: number): CheckReport {
  const { next: _, rows: all, ...others } = report;
  const rows = all.slice(0, maxRows);
  const end = (report.from ?? 0) + rows.length;
  const next = rows.length > 0 && end < report.total ? end : undefined;
  return { ...others, shown: rows.length, ...compact({ next }), rows };
}

function contextOf(check: Check, options: CheckOptions): CheckContext {
  return {
    currencyOf: new Map(),
    ...unusedParameters,
    ...check.defaults,
    ...compact(options),
    today: requireDay(options.today, 'today'),
  };
}

type AnyRecord = RecordOf[Resource];

/** Status category of a quote, stage of an opportunity; other records have none. */
export const statusOf = (resource: Resource, record: AnyRecord): Ref | undefined =>
  resource === 'quote'
    ? { name: statusOfQuote(record) }
    : (record as RecordOf['opportunity']).pipelineStage;

/** The collections that a check is about with the records that match the filters; a record without an owner has none. */
export function* matching(check: Check, data: CheckData, filters: CheckFilters): Steps<CheckData> {
  const { owner, company, status } = filters;
  if (!owner && !company && !status) return data;
  const matched: Record<string, readonly AnyRecord[] | undefined> = { ...data };
  for (const resource of check.about) {
    const records: readonly AnyRecord[] = data[resource] ?? [];
    matched[resource] = yield* filterSteps(
      records,
      (record) =>
        (!owner || refersTo(ownerOf(record), owner)) &&
        (!company || refersTo({ ...companyOf(record) }, company)) &&
        (!status || refersTo(statusOf(resource, record), status)),
    );
  }
  return matched;
}

export const kindsOf = ({ kinds = {} }: RawFinding): string[] => Object.values(kinds);

const isOfKind = (finding: RawFinding, { name = '' }: Named): boolean =>
  kindsOf(finding).includes(name);

/** The highest value first, regardless of currency; unknown values last; then by name and id. */
function* sortByValueAtStake(findings: readonly RawFinding[]): Steps<RawFinding[]> {
  const ranked = findings.map((finding) => ({
    finding,
    rank: finding.atStake?.toNumber() ?? -Number.MAX_VALUE,
  }));
  const sorted = yield* sortSteps(
    ranked,
    (a, b) => b.rank - a.rank || byNameThenRelated(a.finding, b.finding),
  );
  return sorted.map(({ finding }) => finding);
}

const byNameThenRelated = (a: RawFinding, b: RawFinding): number =>
  byName(a, b) || compare(relatedIds(a), relatedIds(b));

const relatedIds = ({ related = [] }: RawFinding): string => related.map(({ id }) => id).join();

const countParts = (findings: readonly RawFinding[]): number =>
  findings.reduce((count, { parts = 0 }) => count + parts, 0);

/** The sum over all findings, shown or not, if the values can be added. */
function totalAtStake({ isAdditive }: Check, findings: readonly RawFinding[]) {
  const sums = new CurrencySums();
  for (const { atStake, currency } of findings) {
    if (currency && isAdditive) sums.add(currency, atStake);
  }
  const unknown = findings.filter((each) => each.currency && !each.atStake).length;
  return compact({ valueAtStake: sums.toAmounts(), unknownValue: nonZero(unknown) });
}

function sharedCurrency(findings: readonly RawFinding[]): string | undefined {
  const currencies = new Set(findings.map(({ currency }) => currency));
  return currencies.size === 1 ? [...currencies][0] : undefined;
}

function toFinding(finding: RawFinding, shared: string | undefined) {
  const { atStake, owner, related = [] } = finding;
  const kinds = kindsOf(finding);
  return compact({
    id: finding.id,
    number: finding.number,
    name: finding.name === finding.number ? undefined : finding.name,
    company: finding.company,
    owner: nonBlank(owner?.name) ?? nonBlank(owner?.id),
    status: finding.status,
    kind: kinds.length > 0 ? kinds : undefined,
    deal: finding.deal,
    valueAtStake: atStake && rounded(atStake),
    currency: atStake && finding.currency !== shared ? finding.currency : undefined,
    reason: finding.reason(),
    related: related.length > 0 ? related.slice(0, maxRelated) : undefined,
    moreRelated: nonZero(Math.max(0, related.length - maxRelated)),
  });
}
