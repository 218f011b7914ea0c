import * as z from 'zod';
import type { Check, CheckData } from '../src/briefs/checks/check.ts';
import {
  type CheckName,
  type CheckReport,
  checkNames,
  checks,
  type Examined,
  examine,
  isOfCompanies,
  kindsOf,
  matching,
  ownerOf,
  reportOn,
  statusOf,
} from '../src/briefs/checks/checks.ts';
import { openDealsBeside } from '../src/briefs/checks/open-deals.ts';
import { checksRestOn, restsOn } from '../src/briefs/rests-on.ts';
import { compact, plural } from '../src/figures/naming.ts';
import { recordsById, runSteps } from '../src/figures/steps.ts';
import type { Candidate } from '../src/names/name-filters.ts';
import { companyOf, labelsOf } from '../src/names/references.ts';
import type { ApiRecord, Company } from '../src/service/records/records.ts';
import { runInSlices } from '../src/slices.ts';
import { InvalidArguments } from '../src/tenant/invalid-arguments.ts';
import { currenciesFor, dealsFor } from '../src/tenant/prepared.ts';
import { readCollections } from '../src/tenant/read-collections.ts';
import { join, trusted, type Wording, wording } from '../src/text/untrusted-text.ts';
import {
  answerWithRows,
  formatAmounts,
  type Page,
  pageOf,
  toCoverage,
  today,
} from '../src/tool-kit/answers.ts';
import {
  type Answer,
  coverage,
  defineTool,
  nameFilter,
  records,
} from '../src/tool-kit/define-tool.ts';
import { memoizedAnswer } from '../src/tool-kit/memoized-answers.ts';
import { describeScope, resolveFilters } from '../src/tool-kit/name-filters.ts';

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
    'One check: findings, reasons, value at stake, largest first; counts by status, kind, owner. open_deals: those of each company.',
  toolset: 'briefs',
  needs: [],
  input: z.strictObject({
    check: z.enum(checkNames),
    owner: nameFilter,
    company: nameFilter,
    status: nameFilter,
    label: nameFilter,
    kind: nameFilter,
    floor: percent(-100),
    days: z.int().min(0).max(3650).optional(),
    tolerance: percent(0),
    open_deals: z.boolean().optional(),
    from: z.int().min(0).optional(),
    size: z.int().min(1).max(100).default(15),
  }),
  output: { definition: z.string().optional(), rows: records.optional(), coverage },
  async run(tenant, args, call) {
    const {
      check,
      size,
      from = 0,
      open_deals,
      owner,
      company,
      status,
      label,
      kind,
      ...parameters
    } = args;
    const { needs, wants = [] }: Check = checks[check];
    const hasCompany = isOfCompanies(checks[check]);
    if (open_deals && !hasCompany)
      throw new InvalidArguments(
        wording`open_deals is for checks of contacts, deals, quotes and contracts: products have no company.`,
      );
    const deals = open_deals ? (['opportunity'] as const) : [];
    const companies = hasCompany ? (['company'] as const) : [];
    const read = await readCollections(tenant, needs, [...wants, ...companies, ...deals], call, {
      ...checksRestOn[check],
      ...(open_deals && restsOn.openDeals),
    });
    return memoizedAnswer(tenant, read, { tool: 'check', ...args }, async () => {
      const about = { coverage: toCoverage(read.coverage) };
      const given = { owner, company, status, label };
      const { filters, question } = resolveFilters(given, occurring(check, read.records), about);
      if (question) return question;
      const matched = await runInSlices(matching(check, read.records, filters));
      const currencyOf = currenciesFor(tenant, read.records.company);
      const options = { ...compact(parameters), today: today(), currencyOf };
      const examined = await runInSlices(examine(check, matched, options));
      const kinds = resolveFilters({ kind }, { kind: () => occurringKinds(examined) }, about);
      if (kinds.question) return kinds.question;
      const { opportunity } = read.records;
      const beside =
        open_deals && opportunity
          ? await runInSlices(
              openDealsBeside(await dealsFor(tenant, opportunity, read.records.company)),
            )
          : undefined;
      const report = await runInSlices(reportOn(examined, kinds.filters.kind, beside));
      const scope = describeScope({ ...filters, ...kinds.filters });
      return checkAnswer(report, { from, size }, toCoverage(read.coverage), scope, read.omitted);
    });
  },
});

/** What the filters can mean: owners, companies and statuses of the records that the check is about. */
function occurring(check: CheckName, data: CheckData) {
  const { about }: Check = checks[check];
  const records: readonly ApiRecord[] = data[about] ?? [];
  const companies: readonly Company[] = data.company ?? [];
  return {
    owner: () => records.map(ownerOf),
    company: () => [...companies, ...records.map((record) => ({ ...companyOf(record) }))],
    status: () => records.map((record) => statusOf(about, record)),
    label() {
      const byId = runSteps(recordsById(companies));
      return records.flatMap((record) => labelsOf(record, byId)).map((name) => ({ name }));
    },
  };
}

const occurringKinds = ({ findings }: Examined): Candidate[] =>
  [...new Set(findings.flatMap(kindsOf))].map((kind) => ({ name: kind }));

function checkAnswer(
  { figures, total, rows }: CheckReport,
  { from, size }: { from: number; size: number },
  coverage: Record<string, unknown>,
  scope: readonly Wording[],
  notes: readonly Wording[],
): Answer {
  // Not all findings, of which there may be thousands: answers are kept.
  const all = rows(from, size);
  return answerWithRows(all.length, (count) => {
    const { from: start, ...page } = pageOf(count, from, total);
    return {
      summary: join([...scope, checkSummary(figures, pageOf(count, from, total))], ' '),
      data: {
        ...figures,
        ...(start > 0 && { from: start }),
        ...page,
        rows: all.slice(0, count),
        coverage,
      },
      notes,
    };
  });
}

function checkSummary(figures: CheckReport['figures'], page: Page): Wording {
  const { check, examined, of, unit, lines, products, contacts, valueAtStake } = figures;
  const stake = formatAmounts(valueAtStake);
  const worth = stake === '' ? '' : wording`, ${stake} at stake`;
  const parts =
    (lines && plural(lines, 'line')) ??
    (products && plural(products, 'product')) ??
    (contacts && plural(contacts, 'contact'));
  const within = parts ? wording` (${parts})` : '';
  const name = trusted(check.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase()));
  return wording`${name}: ${plural(page.total, unit)}${within} found among ${examined} ${trusted(of)}${worth}.${describePage(page)}`;
}

function describePage({ shown, total, from, next }: Page): Wording {
  if (shown === total) return wording``;
  if (shown === 0) return wording` None from ${from}.`;
  const which = wording` Shown: ${from + 1} to ${from + shown}`;
  return next === undefined ? wording`${which}.` : wording`${which}; next: from ${next}.`;
}
