import * as z from 'zod';
import { type CheckReport, checkNames, checks, runCheck } from '../src/briefs/checks.ts';
import { currenciesOf } from '../src/briefs/money.ts';
import { compact } from '../src/briefs/naming.ts';
import { readCollections, readItems } from '../src/tenant/read-collections.ts';
import { trusted, type Wording, wording } from '../src/text/untrusted-text.ts';
import { answerWithRows, formatAmounts, toCoverage, today } from '../src/tool-kit/answers.ts';
import {
  type Answer,
  answerFields,
  coverage,
  defineTool,
  readOnlyHints,
  records,
} from '../src/tool-kit/define-tool.ts';

export const checkSalesData = defineTool({
  name: 'cpq_check_sales_data',
  title: 'Check sales data',
  description:
    'Runs one check over whole collections: findings with the value at stake and the reason, largest first, and the exact definition.',
  toolset: 'briefs',
  needs: [],
  hints: readOnlyHints,
  input: z.strictObject({
    check: z.enum(checkNames),
    floor: z
      .number()
      .min(-100)
      .max(100)
      .optional()
      .describe('Least margin in percent: thin_margins'),
    days: z.int().min(0).max(3650).optional().describe('stale, expiring, stalled'),
    tolerance: z.number().min(0).max(100).optional().describe('Percent: pricing_drift'),
    size: z.int().min(1).max(100).default(15).describe('Findings to show'),
  }),
  output: z.looseObject({ ...answerFields, definition: z.string(), rows: records, coverage }),
  async run(tenant, { check, size, ...parameters }, call) {
    // Products have no company, and so no currency to look up.
    const needsCompany = checks[check].needs.some((it) => it === 'opportunity' || it === 'quote');
    const read = await readCollections(
      tenant,
      checks[check].needs,
      needsCompany ? ['company'] : [],
      call,
    );
    const companies = read.records.company ?? [];
    const { needsItems } = checks[check];
    const quotes = needsItems ? (read.records.quote ?? []).filter(needsItems) : [];
    const coverage = await readItems(tenant, quotes, call, read.coverage);
    const report = (maxRows: number) =>
      runCheck(check, read.records, {
        ...compact(parameters),
        today: today(),
        currencyOf: currenciesOf(companies),
        maxRows,
      });
    return checkAnswer(report, size, toCoverage(coverage), read.omitted);
  },
});

function checkAnswer(
  report: (rows: number) => CheckReport,
  size: number,
  coverage: Record<string, unknown>,
  notes: readonly Wording[],
): Answer {
  return answerWithRows(Math.min(size, report(size).shown), (count) => {
    const found = report(count);
    return {
      summary: checkSummary(found),
      data: { ...found, coverage },
      notes,
    };
  });
}

function checkSummary({ check, total, shown, examined, of, valueAtStake }: CheckReport): Wording {
  const stake = formatAmounts(valueAtStake);
  const worth = stake === '' ? '' : wording`, ${stake} at stake`;
  // Without values at stake, findings are sorted by name.
  const which = stake === '' ? wording`first ${shown}` : wording`${shown} largest`;
  const cut = shown < total ? wording` The ${which} are shown; size shows more.` : '';
  return wording`${check}: ${total} found among ${examined} ${trusted(of)}${worth}.${cut}`;
}
