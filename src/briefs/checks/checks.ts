/** Checks of sales data: each has a name, a definition, and findings with the value at stake. */

import type { Day } from '../../figures/days.ts';
import { type TenantDeals, valueAmounts } from '../../figures/deals.ts';
import { compact, nonBlank, nonZero, nonZeroCounts } from '../../figures/fields.ts';
import { collectGroups, groupKey, groupRows } from '../../figures/group-labels.ts';
import { compare } from '../../figures/lists.ts';
import { type CurrencyOf, rounded, sumOf } from '../../figures/money.ts';
import { byName, type Named, named, nameOrId } from '../../figures/naming.ts';
import { statusOfQuote } from '../../figures/quote-state.ts';
import {
  filterSteps,
  type ResultOf,
  recordsById,
  type Steps,
  sortSteps,
} from '../../figures/steps.ts';
import { refersTo } from '../../names/name-filters.ts';
import { companyOf, labelsOf } from '../../names/references.ts';
import type {
  ApiRecord,
  Company,
  Opportunity,
  RecordLists,
  Ref,
} from '../../service/records/records.ts';
import { keysOf } from '../../values.ts';
import type { Check, CheckContext, CheckParameters, RawFinding } from './check.ts';
import * as contracts from './contracts.ts';
import * as products from './products.ts';
import * as quotes from './quotes.ts';
import * as records from './records.ts';

/** Every check by name, in the order in which the tool lists them. */
export const checks = {
  thin_margins: products.thinMargins,
  below_cost: products.belowCost,
  zero_prices: quotes.zeroPrices,
  pricing_drift: products.pricingDrift,
  duplicate_products: products.duplicateProducts,
  stale_quotes: quotes.staleQuotes,
  expiring_quotes: quotes.expiringQuotes,
  quotes_of_closed_deals: quotes.quotesOfClosedDeals,
  unlisted_on_quotes: quotes.unlistedOnQuotes,
  contracts: contracts.contracts,
  contracts_running_out: contracts.contractsRunningOut,
  stalled_opportunities: records.stalledOpportunities,
  missing_close_dates: records.missingCloseDates,
  opportunities_without_quote: records.opportunitiesWithoutQuote,
  incomplete_opportunities: records.incompleteOpportunities,
  duplicate_contacts: records.duplicateContacts,
};

export type CheckName = keyof typeof checks;

export const checkNames = keysOf(checks);

/** Whether the records are of companies, whose currency their values can be added in. */
export const isOfCompanies = ({ needs: [about] }: Check): boolean =>
  about !== 'product' && about !== 'pricing_book';

/**
 * Filters of the records to examine, as `resolveFilters` resolved them: `status` is the category of a quote, or the stage of
 * an opportunity; `label` is of the record, or of its company.
 */
export type CheckFilters = Partial<Record<'owner' | 'company' | 'status' | 'label', Named>>;

export interface CheckOptions extends CheckParameters {
  today: Day;
  currencyOf?: CurrencyOf;
}

/** What the filters compare of each record that a check is about. @param companies by their ids, for labels */
export function filteredRefs(
  name: CheckName,
  companies: ReadonlyMap<string | undefined, Company> = new Map(),
) {
  const [about] = checks[name].needs;
  // The service names owners of quotes and opportunities only.
  const refsOf: Record<keyof CheckFilters, (record: ApiRecord) => readonly (Ref | undefined)[]> = {
    owner: ({ owner }: Opportunity) => [owner],
    company: (record) => [{ ...companyOf(record) }],
    status: (record: Opportunity) => [
      about === 'quote' ? { name: statusOfQuote(record) } : record.pipelineStage,
    ],
    label: (record) => labelsOf(record, companies).map((label) => ({ name: label })),
  };
  return refsOf;
}

/** The collection that a check is about with the records that match the filters; a record without an owner has none. */
export function* matching(
  name: CheckName,
  data: RecordLists,
  filters: CheckFilters,
): Steps<RecordLists> {
  const given = keysOf(filters).flatMap((by) => (filters[by] ? [[by, filters[by]] as const] : []));
  if (given.length === 0) return data;
  const companies = yield* recordsById(filters.label ? (data.company ?? []) : []);
  const refsOf = filteredRefs(name, companies);
  const [about] = checks[name].needs;
  const records: readonly ApiRecord[] = data[about] ?? [];
  const matched = yield* filterSteps(records, (record) =>
    given.every(([by, filter]) => refsOf[by](record).some((ref) => refersTo(ref, filter))),
  );
  return { ...data, [about]: matched };
}

/** What a check found, the highest value first, regardless of currency; unknown values last; then by name and id. */
export type Examined = ResultOf<typeof examine>;

/** Runs one check over whole collections. Definitions: docs/definitions.md, "Checks". */
export function* examine(name: CheckName, data: RecordLists, options: CheckOptions) {
  const check: Check = checks[name];
  const context: CheckContext = {
    currencyOf: new Map(),
    // No check reads a parameter that it has no default for.
    ...{ floor: Number.NaN, days: Number.NaN, tolerance: Number.NaN },
    ...check.defaults,
    ...compact(options),
  };
  const { findings, ...examined } = yield* check.examine(data, context);
  const ranked = findings.map((finding) => ({
    finding,
    rank: finding.atStake?.toNumber() ?? -Number.MAX_VALUE,
  }));
  const sorted = yield* sortSteps(
    ranked,
    ({ rank: a, finding: one }, { rank: b, finding: other }) =>
      b - a || byName(one, other) || compare(relatedIds(one), relatedIds(other)),
  );
  const definition = check.define(context);
  return { name, definition, ...examined, findings: sorted.map(({ finding }) => finding) };
}

const relatedIds = ({ related = [] }: RawFinding): string => related.map(({ id }) => id).join();

export type CheckReport = ResultOf<typeof reportOn>;

/**
 * The figures over the findings, or over those of one kind, and the rows of these findings.
 * @param besideOf adds to each row what else is known of the company
 */
export function* reportOn(
  { name, definition, examined, notChecked, findings: all, figures: more }: Examined,
  kind?: Named,
  besideOf: (company: Named) => object = () => ({}),
) {
  const check: Check = checks[name];
  const { of, unit, parts, needs } = check;
  const findings = kind ? all.filter((each) => kindsOf(each).includes(kind.name ?? '')) : all;
  const sums = sumOf(isOfCompanies(check) ? findings : [], ({ atStake }) => atStake);
  const countOfParts: { [P in NonNullable<typeof parts>]?: number } = {};
  for (const each of findings)
    if (parts && each.parts) countOfParts[parts] = (countOfParts[parts] ?? 0) + each.parts;
  const currencies = new Set(findings.map(({ currency }) => currency));
  const [shared] = currencies.size === 1 ? currencies : [];
  const figures = compact({
    check: name,
    definition,
    examined,
    of,
    unit,
    ...more,
    // Of all findings, where one can be about several.
    ...countOfParts,
    notChecked: nonZeroCounts(notChecked),
    valueAtStake: sums.toAmounts(),
    unknownValue:
      needs[0] === 'contact'
        ? undefined
        : nonZero(findings.filter(({ atStake }) => !atStake).length),
    counts: yield* countFindings(check, findings),
    // Absent where findings differ in it, which then have their own.
    currency: nonBlank(shared),
  });
  const rows = (from: number, count: number) =>
    findings
      .slice(from, from + count)
      .map((finding) => ({ ...toFinding(finding, shared), ...besideOf(finding.company ?? {}) }));
  return { figures, total: findings.length, rows };
}

export const kindsOf = ({ kinds }: RawFinding): string[] => Object.values(kinds);

const maxRelated = 2;

function toFinding(finding: RawFinding, shared: string | undefined) {
  const { atStake, owner, related = [] } = finding;
  const kinds = kindsOf(finding);
  return compact({
    id: finding.id,
    number: finding.number,
    name: finding.name === finding.number ? undefined : finding.name,
    company: finding.company?.name,
    owner: nameOrId(owner),
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

/** Numbers of findings by status, by each kind, and by owner; `undefined` where there are none. */
function* countFindings({ needs: [about] }: Check, findings: readonly RawFinding[]) {
  const hasOwner = about === 'quote' || about === 'opportunity';
  const kinds = new Set(findings.flatMap((finding) => Object.keys(finding.kinds)));
  const rows = yield* countBy('status', findings, ({ status }) => namesAs(status));
  for (const by of [...kinds].sort(compare))
    rows.push(...(yield* countBy(by, findings, ({ kinds }) => namesAs(kinds[by]))));
  if (hasOwner) rows.push(...(yield* countBy('owner', findings, ({ owner = {} }) => [owner])));
  return rows.length > 0 ? rows : undefined;
}

const namesAs = (name: string | undefined): Ref[] => (name === undefined ? [] : [{ name }]);

/** Values shown; the others are one row. */
const maxValues = 24;

/** The most frequent first. A finding without a label is in no row. */
function* countBy(
  by: string,
  findings: readonly RawFinding[],
  labelsOf: (finding: RawFinding) => readonly Ref[],
) {
  const { rows } = yield* groupRows(findings.flatMap(labelsOf), {
    labelsOf: named,
    ranksOf: ({ length }) => [length],
    limit: maxValues,
    missing: `no ${by}`,
    figuresOf: ({ length }) => ({ count: length }),
  });
  // An id beside a name tells it from others of the same.
  return rows.map(({ name, id, count }) =>
    compact({ by, value: name ?? id ?? '', count, id: name && id }),
  );
}

/** What a row of a check shows of the open deals of its company: their number and value by currency. */
export function* openDealsBeside({
  all,
}: TenantDeals): Steps<(company: Named) => { openDeals?: number }> {
  const open = yield* filterSteps(all, ({ outcome }) => outcome === 'open');
  const groups = collectGroups(open, ({ record }) => companyOf(record));
  const byCompany = new Map(groups.map(({ label, items }) => [groupKey(label), items]));
  return (company) => {
    if (!(company.id ?? company.name)) return {};
    const deals = byCompany.get(groupKey(company)) ?? [];
    return { openDeals: deals.length, ...compact({ openDealsValue: valueAmounts(deals).value }) };
  };
}
