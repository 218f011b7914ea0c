import * as z from 'zod';
import {
  type CheckData,
  type CheckOptions,
  type CheckReport,
  checkNames,
  checks,
  type Examined,
  examine,
  kindsOf,
  matching,
  ownerOf,
  reportOn,
  statusOf,
  withFewerRows,
} from '../src/briefs/checks/checks.ts';
import { compact, plural } from '../src/figures/naming.ts';
import { companyOf } from '../src/names/company-reference.ts';
import type { Candidate } from '../src/names/name-filters.ts';
import type { ApiRecord, Company } from '../src/service/records/records.ts';
import { runInSlices } from '../src/slices.ts';
import { currenciesFor } from '../src/tenant/prepared.ts';
import { readCollections, readItems } from '../src/tenant/read-collections.ts';
import { join, trusted, type Wording, wording } from '../src/text/untrusted-text.ts';
import { answerWithRows, formatAmounts, toCoverage, today } from '../src/tool-kit/answers.ts';
import {
  type Answer,
  answerFields,
  coverage,
  defineTool,
  nameFilter,
  readOnlyHints,
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
    'Runs one check over whole collections: findings with reason and value at stake, largest first; counts by status, kind, owner.',
  toolset: 'briefs',
  needs: [],
  hints: readOnlyHints,
  input: z.strictObject({
    check: z.enum(checkNames),
    owner: nameFilter,
    company: nameFilter,
    status: nameFilter,
    kind: nameFilter,
    floor: percent(-100),
    days: z.int().min(0).max(3650).optional(),
    tolerance: percent(0),
    from: z.int().min(0).optional(),
    size: z.int().min(1).max(100).default(15),
  }),
  output: z.looseObject({
    ...answerFields,
    definition: z.string().optional(),
    rows: records.optional(),
    coverage,
  }),
  async run(tenant, args, call) {
    const { check, size, from = 0, owner, company, status, kind, ...parameters } = args;
    const { needs, wants = [] } = checks[check];
    const optional = new Set([...wants, ...(needsCompanies(check) ? (['company'] as const) : [])]);
    const read = await readCollections(tenant, needs, [...optional], call);
    return memoizedAnswer(tenant, read, { tool: 'check', ...args }, async () => {
      const { records } = read;
      const about = { coverage: toCoverage(read.coverage) };
      const resolved = resolveFilters({ owner, company, status }, occurring(check, records), about);
      if (resolved.question) return resolved.question;
      const options: CheckOptions = {
        ...compact(parameters),
        ...resolved.filters,
        today: today(),
        currencyOf: currenciesFor(tenant, records.company),
      };
      const { needsItems } = checks[check];
      const wanted = needsItems
        ? (await runInSlices(matching(checks[check], records, options))).quote?.filter(needsItems)
        : [];
      const { quote = [] } = records;
      const withItems = await readItems(tenant, quote, wanted ?? [], call, read.coverage);
      const data = { ...records, ...(records.quote && { quote: withItems.quotes }) };
      const all = await runInSlices(examine(check, data, options));
      const kinds = resolveFilters({ kind }, { kind: () => occurringKinds(all) }, about);
      if (kinds.question) return kinds.question;
      const examined =
        kind === undefined
          ? all
          : await runInSlices(examine(check, data, { ...options, ...kinds.filters }));
      const scope = describeScope({ ...resolved.filters, ...kinds.filters });
      return checkAnswer(examined, { from, size }, toCoverage(withItems.coverage), {
        scope,
        notes: read.omitted,
      });
    });
  },
});

/** Products have no company, and so no currency to look up. */
const needsCompanies = (check: (typeof checkNames)[number]): boolean =>
  checks[check].about.some((it) => it === 'opportunity' || it === 'quote');

/** What the filters can mean: owners, companies and statuses of the records that the check is about. */
function occurring(check: (typeof checkNames)[number], data: CheckData) {
  const { about } = checks[check];
  const from = (refOf: (record: ApiRecord, resource: (typeof about)[number]) => unknown) => () =>
    about.flatMap((resource) =>
      (data[resource] ?? []).map((record) => refOf(record, resource) as Candidate | undefined),
    );
  const companies: readonly Company[] = data.company ?? [];
  return {
    owner: from(ownerOf),
    company: () => [...companies, ...from(companyOf)()],
    status: from((record, resource) => statusOf(resource, record)),
  };
}

const occurringKinds = ({ findings }: Examined): Candidate[] =>
  [...new Set(findings.flatMap(kindsOf))].map((kind) => ({ name: kind }));

function checkAnswer(
  examined: Examined,
  { from, size }: { from: number; size: number },
  coverage: Record<string, unknown>,
  { scope, notes }: { scope: readonly Wording[]; notes: readonly Wording[] },
): Answer {
  // Not all findings, of which there may be thousands: answers are kept.
  const all = reportOn(examined, { from, maxRows: size });
  return answerWithRows(all.shown, (rows) => {
    const found = withFewerRows(all, rows);
    return {
      summary: join([...scope, checkSummary(found)], ' '),
      data: { ...found, coverage },
      notes,
    };
  });
}

function checkSummary(report: CheckReport): Wording {
  const { check, total, examined, of, unit, lines, products, valueAtStake } = report;
  const stake = formatAmounts(valueAtStake);
  const worth = stake === '' ? '' : wording`, ${stake} at stake`;
  const parts = lines ?? products;
  const within =
    parts === undefined
      ? ''
      : wording` (${plural(parts, lines === undefined ? 'product' : 'line')})`;
  return wording`${check}: ${plural(total, unit)}${within} found among ${examined} ${trusted(of)}${worth}.${describePage(report)}`;
}

function describePage({ shown, total, from = 0, next }: CheckReport): Wording {
  if (shown === total) return wording``;
  if (shown === 0) return wording` None from ${from}.`;
  const which = wording` Shown: ${from + 1} to ${from + shown}`;
  return next === undefined ? wording`${which}.` : wording`${which}; next: from ${next}.`;
}
