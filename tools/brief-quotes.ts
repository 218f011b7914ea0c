import * as z from 'zod';
import {
  findQuotes,
  meansNoItems,
  type QuoteExtra,
  type QuotesBrief,
  type QuotesOptions,
  type QuotesReport,
  quoteDates,
  quoteExtras,
  quoteOrders,
  quotesBy,
  quotesReport,
} from '../src/briefs/quotes/quotes.ts';
import { restsOn } from '../src/briefs/rests-on.ts';
import { currencyOfRecord } from '../src/figures/money.ts';
import { plural } from '../src/figures/naming.ts';
import { isDeleted } from '../src/figures/outcome.ts';
import { acceptances, dealStates, statusOfQuote } from '../src/figures/quote-state.ts';
import { lacksName } from '../src/names/references.ts';
import type { Company, Quote } from '../src/service/records/records.ts';
import { runInSlices } from '../src/slices.ts';
import { companiesOfQuotes, currenciesFor } from '../src/tenant/prepared.ts';
import { readCollections } from '../src/tenant/read-collections.ts';
import { join, quote, trusted, type Wording, wording } from '../src/text/untrusted-text.ts';
import {
  formatAmounts,
  memoizedAnswer,
  rankedInCurrencies,
  toCoverage,
  today,
} from '../src/tool-kit/answers.ts';
import { type Answer, defineTool } from '../src/tool-kit/define-tool.ts';
import { describeScope, resolveFilters } from '../src/tool-kit/name-filters.ts';
import { answerWithRows, listedWords, listPart } from '../src/tool-kit/rows.ts';
import * as schemas from '../src/tool-kit/schemas.ts';
import { isOneOf } from '../src/values.ts';

export const briefQuotes = defineTool({
  name: 'cpq_brief_quotes',
  title: 'Brief on all quotes',
  description:
    'All quotes: amounts by group and acceptance; the largest, the oldest; approval rate, days to send and approve, discount, margin.',
  toolset: 'briefs',
  view: 'quotes',
  needs: ['quote:read'],
  input: schemas.inOrder(
    z.strictObject({
      by: z.enum(quotesBy).default('status'),
      show: z.array(z.enum(quoteExtras)).optional(),
      sort: z.enum(quoteOrders).optional(),
      owner: schemas.nameFilter,
      company: schemas.nameFilter,
      status: schemas.nameFilter,
      currency: schemas.nameFilter,
      acceptance: schemas.nameFilter,
      deal_state: schemas.nameFilter,
      date: z.enum(quoteDates).default('sent'),
      date_from: schemas.plainDay,
      date_to: schemas.plainDay,
      item: schemas.nameFilter.describe('Text in lines, or none'),
      groups: z.int().min(0).optional(),
      from: z.int().min(0).optional(),
      size: z.int().min(0).max(100).optional(),
    }),
    ['date_from', 'date_to'],
  ),
  output: {
    quotes: z.looseObject({ rows: schemas.records }).optional(),
    coverage: schemas.coverage,
  },
  async run(tenant, args, call) {
    const isByDeal = args.by === 'deal_state' || args.deal_state !== undefined;
    const read = await readCollections(
      tenant,
      isByDeal ? ['quote', 'opportunity'] : ['quote'],
      ['opportunity', 'company'],
      call,
      restsOn.quotes,
      async (resource) => {
        if (resource === 'quote') return undefined;
        const { records } = await tenant.collection('quote', call);
        const isOfCompany = args.company !== undefined;
        if (resource === 'company') return companiesOfQuotes(tenant, records, isOfCompany, call);
        // For their states, and where references lack names.
        const isNeeded = isByDeal || args.acceptance !== undefined;
        return isNeeded || records.some((each) => lacksName('quote', each))
          ? undefined
          : { ids: [] };
      },
    );
    return memoizedAnswer(tenant, read, { tool: 'quotes', ...args }, async () => {
      const { quote: quotes = [], company: companies = [] } = read.records;
      const isUnread = read.partial.includes('opportunity');
      const opportunity = isUnread ? undefined : read.records.opportunity;
      const currencyOf = currenciesFor(tenant, read.records.company);
      const { filters, question } = resolveFilters(
        args,
        occurring(quotes, companies, (each) => currencyOfRecord(each, currencyOf)),
        toCoverage(read.coverage),
      );
      if (question) return question;
      const options: QuotesOptions = {
        ...filters,
        dealState: filters.deal_state,
        from: args.date_from,
        to: args.date_to,
        item: args.item,
        show: args.show,
        sort: args.sort,
        maxGroups: args.groups,
        by: args.by,
        date: args.date,
        today: today(),
        currencyOf,
      };
      const found = await runInSlices(findQuotes(quotes, opportunity, options));
      const report = await runInSlices(quotesReport(found, options));
      return quotesAnswer(
        report,
        { from: args.from ?? 0, size: args.size ?? (args.show?.length ? 0 : 5) },
        toCoverage(read.coverage),
        {
          scope: describeScope(filters, [args.item !== undefined && aboutLines(args.item)]),
          notes: [
            ...quotesNotes(report.brief, options),
            isUnread && report.count > 0 && unreadDeals,
            ...read.omitted,
          ],
        },
      );
    });
  },
});

const unreadDeals = wording`The states of the opportunities are left out, because all of them would have to be read: ask by deal_state for them.`;

const aboutLines = (item: string): Wording =>
  meansNoItems(item) ? wording`without lines` : wording`with ${quote(item)} in a line`;

/** What the filters can mean. */
const occurring = (
  all: readonly Quote[],
  companies: readonly Company[],
  currencyOf: (quote: Quote) => string,
) => {
  const quotes = all.filter((each) => !isDeleted(each));
  return {
    owner: () => quotes.map(({ owner }) => owner),
    company: () => [...companies, ...quotes.map(({ company }) => company)],
    status: () => quotes.map((each) => ({ name: statusOfQuote(each) })),
    currency: () => quotes.map((each) => ({ name: currencyOf(each) })),
    // The status `expired` is what people call a quote whose expiry date is over, too.
    acceptance: () =>
      acceptances.map((name) =>
        name === 'past expiry' ? { name, externalIdentifier: 'expired' } : { name },
      ),
    deal_state: () => dealStates.map((each) => ({ name: each })),
  };
};

const definitions: Readonly<Record<QuoteExtra, Wording>> = {
  approval: wording`approvalRatePercent: approved / (approved + declined); expired ones are apart.`,
  days: wording`Days from createdAt to sentAt and from sentAt to approvedAt, where both are known (n).`,
  discount: wording`List: quantity × price and setups before discounts; discount: list less the amounts after discounts of lines and quotes; margin: where price and cost are known.`,
};

const quotesNotes = (
  { total, by, groups }: QuotesBrief,
  { item, show = [], sort }: QuotesOptions,
): (Wording | false)[] => {
  if (total.count === 0) {
    const about =
      item !== undefined && wording` The text ${quote(item)} may be spelt otherwise in lines.`;
    return [wording`No quote matches all of the filters: leave one out to see more.${about}`];
  }
  const inCurrencies = Object.keys(total.firstYearValue ?? {}).length > 1;
  const isRanked = !['month', 'value', 'age'].includes(by);
  return [
    item !== undefined &&
      !meansNoItems(item) &&
      !isOneOf(['product', 'category'], by) &&
      wording`Amounts are of whole quotes, with their other lines.`,
    ...show.map((extra) => definitions[extra]),
    isRanked &&
      sort !== 'value' &&
      groups.shown < groups.total &&
      wording`The groups shown have the most quotes; one of the others may have a higher value: sort value ranks them by it.`,
    isRanked && sort === 'value' && inCurrencies && rankedInCurrencies,
  ];
};

function quotesAnswer(
  { brief, count, rows }: QuotesReport,
  { from, size }: { from: number; size: number },
  coverage: Record<string, unknown>,
  { scope, notes }: { scope: Wording | false; notes: readonly (Wording | false)[] },
): Answer {
  // Not the report itself, which is a hundred times as large: answers are kept.
  const all = rows(from, size);
  return answerWithRows(all.length, (shown) => {
    const quotes = listPart(all.slice(0, shown), from, count);
    return {
      summary: join([scope, quotesSummary(brief), listedWords(quotes)], ' '),
      data: { ...brief, quotes, coverage },
      notes,
    };
  });
}

function quotesSummary({ total, acceptance, period }: QuotesBrief): Wording {
  const { count, firstYearValue: value } = total;
  const worth = value !== undefined && wording`, first-year value ${formatAmounts(value)}`;
  const states = acceptance.map(
    (row) => wording`${row.count} ${trusted(row.acceptance)}${describeClosed(row.deals)}`,
  );
  const which = states.length > 0 && wording`: ${join(states, ', ')}`;
  return wording`${plural(count, 'quote')}${period !== undefined && describePeriod(period)}${which}${worth}.`;
}

/** Quotes that could still be accepted although their deal is over. */
function describeClosed(deals: Readonly<Record<string, number>> = {}): Wording | false {
  const over = ['won', 'lost', 'closed', 'deleted'].filter((state) => deals[state]);
  const words = over.map((state) => wording`${deals[state] ?? 0} of ${trusted(state)} deals`);
  return words.length > 0 && wording` (${join(words, ', ')})`;
}

function describePeriod({
  date,
  from,
  to,
  withoutDate,
}: NonNullable<QuotesBrief['period']>): Wording {
  const start = from !== undefined && wording` from ${trusted(from)}`;
  const end = to !== undefined && wording` to ${trusted(to)}`;
  const others =
    withoutDate !== undefined &&
    wording`; ${withoutDate} more ${withoutDate === 1 ? 'has' : 'have'} no such date`;
  return wording` (${trusted(date)}${start}${end}${others})`;
}
