import * as z from 'zod';
import type { Check, CheckParameters } from '../src/briefs/checks/check.ts';
import {
  type CheckName,
  type CheckReport,
  checkNames,
  checks,
  type Examined,
  examine,
  filteredRefs,
  isOfCompanies,
  kindsOf,
  matching,
  openDealsBeside,
  reportOn,
} from '../src/briefs/checks/checks.ts';
import { checksRestOn, restsOn } from '../src/briefs/rests-on.ts';
import { compact } from '../src/figures/fields.ts';
import { plural } from '../src/figures/naming.ts';
import { recordsById, runSteps } from '../src/figures/steps.ts';
import type { Candidate } from '../src/names/name-filters.ts';
import type { ApiRecord, RecordLists, Resource } from '../src/service/records/records.ts';
import { runInSlices } from '../src/slices.ts';
import { InvalidArguments } from '../src/tenant/invalid-arguments.ts';
import { currenciesFor, dealsFor } from '../src/tenant/prepared.ts';
import { type CollectionsRead, readCollections } from '../src/tenant/read-collections.ts';
import type { Tenant, ToolCall } from '../src/tenant/tenant.ts';
import { join, trusted, type Wording, wording } from '../src/text/untrusted-text.ts';
import { formatAmounts, memoizedAnswer, toCoverage, today } from '../src/tool-kit/answers.ts';
import { type Answer, defineTool } from '../src/tool-kit/define-tool.ts';
import { describeScope, resolveFilters } from '../src/tool-kit/name-filters.ts';
import { answerWithRows, listedWords, listPart } from '../src/tool-kit/rows.ts';
import * as schemas from '../src/tool-kit/schemas.ts';
import { isOneOf, keysOf } from '../src/values.ts';

/** Checked here and not in the schema, to save tokens in every conversation. */
const percent = (min: number) =>
  z
    .number()
    .refine((value) => value >= min && value <= 100, `must be from ${min} to 100`)
    .optional();

export const checkSalesData = defineTool({
  name: 'cpq_check_sales_data',
  title: 'Check sales data',
  description:
    'Findings of checks: reasons, value at stake; counts by status, kind, owner. open_deals: those of each company.',
  toolset: 'briefs',
  needs: [],
  input: z.strictObject({
    check: z
      .array(z.enum(checkNames))
      .refine(({ length }) => length > 0, 'must name a check')
      .describe('Of several a short form; zero_prices are of quotes'),
    owner: schemas.nameFilter,
    company: schemas.nameFilter,
    status: schemas.nameFilter,
    label: schemas.nameFilter,
    kind: schemas.nameFilter,
    floor: percent(-100),
    days: z.int().min(0).max(3650).optional(),
    tolerance: percent(0),
    open_deals: z.boolean().optional(),
    from: z.int().min(0).optional(),
    size: z.int().min(1).max(100).optional(),
  }),
  output: {
    definition: z.string().optional(),
    rows: schemas.records.optional(),
    coverage: schemas.coverage,
  },
  async run(tenant, { check: names, from, size, ...args }, call) {
    if (names.length > 1 && (from ?? args.kind) !== undefined)
      throw new InvalidArguments(wording`from and kind are for one check: ask for it alone.`);
    refuseUnused(names, args);
    const read = await readFor(tenant, names, args, call);
    return memoizedAnswer(tenant, read, { tool: 'check', names, from, size, ...args }, async () => {
      const found: FoundReport[] = [];
      const leftOut: Wording[] = [];
      let question: Answer | undefined;
      for (const name of names) {
        const result = await reportOf(tenant, name, args, read);
        if ('report' in result) found.push(result);
        else {
          // Of several checks some are of records that have no owner.
          question ??= result.question;
          leftOut.push(wording`${checkWords(name)}: ${result.question.summary}`);
        }
      }
      if (question && found.length === 0) return question;
      const notes = [...leftOut, ...read.omitted];
      const more = { coverage: toCoverage(read.coverage), notes };
      const [first] = found;
      return first && names.length === 1
        ? checkAnswer(first, { from, size }, more)
        : severalAnswer(found, size, more);
    });
  },
});

type Asked = {
  [F in 'owner' | 'company' | 'status' | 'label' | 'kind']?: string | undefined;
} & { [P in keyof CheckParameters]?: number | undefined } & { open_deals?: boolean | undefined };

/** @throws InvalidArguments for a limit that none of the checks has */
function refuseUnused(names: readonly CheckName[], args: Asked): void {
  const has = (name: CheckName, limit: string) => limit in ((checks[name] as Check).defaults ?? {});
  for (const limit of ['floor', 'days', 'tolerance'] as const) {
    if (args[limit] === undefined || names.some((name) => has(name, limit))) continue;
    const users = checkNames.filter((name) => has(name, limit));
    throw new InvalidArguments(
      wording`${limit} is for ${trusted(users.join(', '))}: leave it out.`,
    );
  }
}

/** @throws InvalidArguments, NotGranted, ApiError */
function readFor(
  tenant: Tenant,
  names: readonly CheckName[],
  { open_deals: withDeals, label }: Asked,
  call: ToolCall,
): Promise<CollectionsRead<Resource>> {
  const all = names.map((name): Check => checks[name]);
  if (withDeals && !all.every(isOfCompanies))
    throw new InvalidArguments(
      wording`open_deals is for checks of contacts, deals, quotes and contracts: products have no company.`,
    );
  const needs = new Set(all.flatMap((check) => check.needs));
  const wants = new Set<Resource>(all.flatMap(({ wants = [] }) => wants));
  // Without companies no record would have the label.
  if (all.some(isOfCompanies)) (label === undefined ? wants : needs).add('company');
  if (withDeals) wants.add('opportunity');
  const rests = [
    ...names.map((name) => checksRestOn[name]),
    ...(withDeals ? [restsOn.pipeline] : []),
  ];
  const fields: Record<string, readonly string[]> = {};
  for (const rest of rests)
    for (const resource of keysOf(rest))
      fields[resource] = [...new Set([...(fields[resource] ?? []), ...(rest[resource] ?? [])])];
  const others = [...wants].filter((resource) => !needs.has(resource));
  return readCollections(tenant, [...needs], others, call, fields);
}

interface FoundReport {
  report: CheckReport;
  scope: Wording | false;
}

async function reportOf(
  tenant: Tenant,
  name: CheckName,
  { owner, company, status, label, kind, open_deals, ...parameters }: Asked,
  { records, coverage }: CollectionsRead<Resource>,
): Promise<FoundReport | { question: Answer }> {
  const about = toCoverage(coverage);
  const given = { owner, company, status, label };
  const { filters, question } = resolveFilters(given, occurring(name, records), about);
  if (question) return { question };
  const matched = await runInSlices(matching(name, records, filters));
  const currencyOf = currenciesFor(tenant, records.company);
  const options = { ...compact(parameters), today: today(), currencyOf };
  const examined = await runInSlices(examine(name, matched, options));
  const kinds = resolveFilters({ kind }, { kind: () => occurringKinds(examined) }, about);
  if (kinds.question) return kinds;
  const { opportunity } = records;
  const beside =
    open_deals && opportunity
      ? await runInSlices(openDealsBeside(await dealsFor(tenant, opportunity, records.company)))
      : undefined;
  const report = await runInSlices(reportOn(examined, kinds.filters.kind, beside));
  return { report, scope: describeScope({ ...filters, ...kinds.filters }) };
}

const checkWords = (name: CheckName) =>
  trusted(name.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase()));

/** What the filters can mean: what occurs in the records that the check is about, and all companies. */
function occurring(check: CheckName, data: RecordLists) {
  const [about] = checks[check].needs;
  const records: readonly ApiRecord[] = data[about] ?? [];
  const { owner, company, status } = filteredRefs(check);
  return {
    owner: () => records.flatMap(owner),
    company: () =>
      isOfCompanies(checks[check]) ? [...(data.company ?? []), ...records.flatMap(company)] : [],
    status: () => records.flatMap(status),
    label: () =>
      records.flatMap(filteredRefs(check, runSteps(recordsById(data.company ?? []))).label),
  };
}

const occurringKinds = ({ findings }: Examined): Candidate[] =>
  [...new Set(findings.flatMap(kindsOf))].map((kind) => ({ name: kind }));

/** What every answer has. */
interface Shared {
  coverage: Record<string, unknown>;
  notes: readonly Wording[];
}

/** What only the first page has: it would leave a later one no room for rows. */
const breakdowns = ['counts', 'runningByTerm', 'companies', 'recurringRevenue'] as const;

const defaultSize = 15;
/** An answer without a number of rows is filled up to 1,500 tokens: the estimate is up to half too high. */
const aim = 2_350;

function checkAnswer(
  { report: { figures, total, rows }, scope }: FoundReport,
  { from = 0, size }: { from?: number | undefined; size: number | undefined },
  { coverage, notes }: Shared,
): Answer {
  // Not all findings, of which there may be thousands: answers are kept.
  const all = rows(from, size ?? defaultSize);
  const kept = Object.entries(figures).filter(([name]) => from === 0 || !isOneOf(breakdowns, name));
  const write = (count: number): Answer => {
    const list = listPart(all.slice(0, count), from, total);
    return {
      summary: join([scope, checkSummary(figures, total), listedWords(list)], ' '),
      data: { ...Object.fromEntries(kept), ...list, coverage },
      notes,
    };
  };
  return answerWithRows(all.length, write, size === undefined ? aim : undefined);
}

const rowsOfSeveral = 3;

/** The figures of each check in a row, and its first findings. */
function severalAnswer(
  found: readonly FoundReport[],
  size = rowsOfSeveral,
  { coverage, notes }: Shared,
): Answer {
  const checked = found.map(({ report: { figures, total } }) => {
    const { check, examined, valueAtStake, unknownValue, definition } = figures;
    return { check, found: total, valueAtStake, unknownValue, examined, definition };
  });
  const all = found.map(({ report: { figures, rows } }) =>
    rows(0, size).map((row) => ({
      check: figures.check,
      ...row,
      currency: row.valueAtStake === undefined ? undefined : (row.currency ?? figures.currency),
    })),
  );
  const sentences = found.map(({ report: { figures, total } }) => checkSummary(figures, total));
  const write = (count: number): Answer => ({
    summary: join([found[0]?.scope, ...sentences], ' '),
    data: { checks: checked, rows: all.flatMap((rows) => rows.slice(0, count)), coverage },
    notes,
  });
  return answerWithRows(size, write);
}

function checkSummary(figures: CheckReport['figures'], total: number): Wording {
  const { check, examined, of, unit, valueAtStake } = figures;
  const worth = valueAtStake !== undefined && wording`, ${formatAmounts(valueAtStake)} at stake`;
  const { parts }: Check = checks[check];
  // The parts are named in the plural.
  const within =
    parts !== undefined &&
    figures[parts] !== undefined &&
    wording` (${plural(figures[parts], trusted(parts.slice(0, -1)))})`;
  return wording`${checkWords(check)}: ${plural(total, unit)}${within} found among ${examined} ${trusted(of)}${worth}.`;
}
