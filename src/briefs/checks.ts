/** Checks of sales data: each has a name, a definition, and findings with the value at stake. */

import type { Resource } from '../records/records.ts';
import type { Wording } from '../text/untrusted-text.ts';
import { keysOf } from '../values.ts';
import type {
  Check,
  CheckContext,
  CheckData,
  CheckName,
  CheckParameters,
  RawFinding,
} from './checks/check.ts';
import { missingCloseDates, stalledOpportunities } from './checks/opportunities.ts';
import { belowCost, duplicateProducts, pricingDrift, thinMargins } from './checks/products.ts';
import { expiringQuotes, staleQuotes, unlistedOnQuotes } from './checks/quotes.ts';
import { contactsWithoutEmail, missingExternalIds } from './checks/records.ts';
import { type Day, requireDay } from './days.ts';
import { type Amounts, type CurrencyOf, CurrencySums, rounded, unknownCurrency } from './money.ts';
import {
  byName,
  compact,
  compare,
  type LimitedList,
  limitList,
  type Named,
  nonZero,
  nonZeroCounts,
} from './naming.ts';

export type { CheckData, CheckName };

/** Every check by name, in the order in which the tool lists them. */
export const checks: Readonly<Record<CheckName, Check>> = {
  thin_margins: thinMargins,
  below_cost: belowCost,
  stale_quotes: staleQuotes,
  expiring_quotes: expiringQuotes,
  pricing_drift: pricingDrift,
  unlisted_on_quotes: unlistedOnQuotes,
  duplicate_products: duplicateProducts,
  missing_external_ids: missingExternalIds,
  stalled_opportunities: stalledOpportunities,
  missing_close_dates: missingCloseDates,
  contacts_without_email: contactsWithoutEmail,
};

export const checkNames = keysOf(checks);

export interface CheckOptions extends CheckParameters {
  today: Day;
  currencyOf?: CurrencyOf;
  /** The currency of catalogue prices, if the tenant has one. Default: "unknown currency". */
  catalogueCurrency?: string;
  /** Findings shown. Default: 15. */
  maxRows?: number;
  /** Related records named in one finding. Default: 2. */
  maxRelated?: number;
}

interface CheckFinding extends Named {
  company?: string;
  valueAtStake?: number;
  /** Absent where all findings share one currency, which is then a field of the report. */
  currency?: string;
  reason: Wording;
  related?: Named[];
  /** Related records that are not shown. */
  moreRelated?: number;
}

export interface CheckReport extends LimitedList<CheckFinding> {
  check: CheckName;
  /** The exact definition of the check, with its parameters. */
  definition: string;
  examined: number;
  /** What was examined. */
  of: string;
  /** Number of records that could not be judged, by reason. */
  unjudged?: Partial<Record<string, number>>;
  /** Sums over all findings, shown or not. */
  valueAtStake?: Amounts;
  /** Findings of unknown value: not in `valueAtStake`. */
  unknownValue?: number;
  /** Findings by resource, where a check looks at several. */
  byResource?: Partial<Record<Resource, number>>;
  currency?: string;
}

const neutralParameters = { floor: 0, days: 0, tolerance: 0 };
const defaults = { maxRows: 15, maxRelated: 2 };

/**
 * Runs one check over whole collections. Definitions: docs/definitions.md, "Checks".
 *
 * @throws RangeError if `today` is not a day, or `data` lacks a collection that the check needs.
 */
export function runCheck(name: CheckName, data: CheckData, options: CheckOptions): CheckReport {
  const check = checks[name];
  const missing = check.needs.filter((resource) => data[resource] === undefined);
  if (missing.length > 0) throw new RangeError(`${name} needs ${missing.join(', ')}`);
  const { maxRows, maxRelated } = { ...defaults, ...compact(options) };
  const context = contextOf(check, options);
  const { findings, ...examined } = check.examine(data, context);
  const sorted = byValueAtStake(findings);
  const shared = sharedCurrency(sorted);
  return compact({
    check: name,
    definition: check.define(context),
    examined: examined.examined,
    of: examined.of,
    unjudged: nonZeroCounts(examined.unjudged),
    ...totalAtStake(sorted),
    byResource: check.needs.length > 1 ? countByResource(sorted) : undefined,
    currency: shared,
    ...limitList(sorted, maxRows, (finding) => toFinding(finding, shared, maxRelated)),
  });
}

/** The exact definition of a check with its parameters filled in. */
export const defineCheck = (name: CheckName, options: CheckOptions): string =>
  checks[name].define(contextOf(checks[name], options));

function contextOf(check: Check, options: CheckOptions): CheckContext {
  return {
    catalogueCurrency: unknownCurrency,
    currencyOf: new Map(),
    ...neutralParameters,
    ...check.defaults,
    ...compact(options),
    today: requireDay(options.today, 'today'),
  };
}

/** The highest value first, whatever the currency; unknown values last; then by name and id. */
function byValueAtStake(findings: readonly RawFinding[]): RawFinding[] {
  return findings
    .map((finding) => ({ finding, rank: finding.atStake?.toNumber() ?? -Number.MAX_VALUE }))
    .sort((a, b) => b.rank - a.rank || byNameThenRelated(a.finding, b.finding))
    .map(({ finding }) => finding);
}

const byNameThenRelated = (a: RawFinding, b: RawFinding): number =>
  byName(a, b) || compare(relatedIds(a), relatedIds(b));

const relatedIds = ({ related = [] }: RawFinding): string => related.map(({ id }) => id).join();

const isValued = ({ currency }: RawFinding): boolean => currency !== undefined;

function totalAtStake(
  findings: readonly RawFinding[],
): Pick<CheckReport, 'valueAtStake' | 'unknownValue'> {
  const sums = new CurrencySums();
  for (const { atStake, currency } of findings) if (currency) sums.add(currency, atStake);
  const unknown = findings.filter((each) => isValued(each) && !each.atStake).length;
  return compact({ valueAtStake: sums.toAmounts(), unknownValue: nonZero(unknown) });
}

function sharedCurrency(findings: readonly RawFinding[]): string | undefined {
  const currencies = new Set(findings.filter(isValued).map(({ currency }) => currency));
  return currencies.size === 1 ? [...currencies][0] : undefined;
}

function countByResource(findings: readonly RawFinding[]): CheckReport['byResource'] {
  const counts: Partial<Record<Resource, number>> = {};
  for (const { resource } of findings) counts[resource] = (counts[resource] ?? 0) + 1;
  return Object.keys(counts).length > 1 ? counts : undefined;
}

function toFinding(
  findings: RawFinding,
  shared: string | undefined,
  maxRelated: number,
): CheckFinding {
  const { atStake, related = [] } = findings;
  return compact({
    id: findings.id,
    name: findings.name,
    company: findings.company,
    valueAtStake: atStake && rounded(atStake),
    currency: atStake && findings.currency !== shared ? findings.currency : undefined,
    reason: findings.reason(),
    related: related.length > 0 ? related.slice(0, maxRelated) : undefined,
    moreRelated: nonZero(Math.max(0, related.length - maxRelated)),
  });
}
