import * as z from 'zod';
import { type CompanyBrief, companyBrief, recordsOf } from '../src/briefs/company/company.ts';
import { type DealExtra, dealExtras } from '../src/figures/deals.ts';
import { compact, plural } from '../src/figures/naming.ts';
import { hasUnknownItems } from '../src/figures/quote-totals.ts';
import type { ApiRecord, Company, Quote, Resource } from '../src/service/records/records.ts';
import { runInSlices, waitForSlice } from '../src/slices.ts';
import type { ToolCall } from '../src/tenant/call.ts';
import { resolveRecord } from '../src/tenant/lookup.ts';
import {
  currenciesFor,
  marketFor,
  ownerNamesFor,
  probabilityScaleFor,
  recordsOfCompany,
} from '../src/tenant/prepared.ts';
import { readCollections, readItems } from '../src/tenant/read-collections.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { join, quote, type Wording, wording } from '../src/text/untrusted-text.ts';
import {
  ambiguousAnswer,
  answerWithRows,
  deletedWords,
  formatAmounts,
  limitLists,
  toCoverage,
  today,
} from '../src/tool-kit/answers.ts';
import {
  type Answer,
  answerFields,
  coverage,
  defineTool,
  readOnlyHints,
} from '../src/tool-kit/define-tool.ts';
import { memoizedAnswer } from '../src/tool-kit/memoized-answers.ts';

const partNames = [
  'contacts',
  'opportunities',
  'quotes',
  'contracts',
  'pricing',
  'never_bought',
  'recent_activity',
] as const;

export const briefCompany = defineTool({
  name: 'cpq_brief_company',
  title: 'Brief on a company',
  description:
    'One account: contacts, open opportunities, quotes with totals, contract items (beta), discounts and pricing books that apply, products never bought, latest changes.',
  toolset: 'briefs',
  view: 'company',
  needs: ['company:read'],
  hints: readOnlyHints,
  input: z.strictObject({
    company: z.string().trim().min(1).max(200).describe('Id, external identifier or name'),
    parts: z.array(z.enum(partNames)).optional().describe('Default all'),
    rows: z.int().min(0).max(50).optional().describe('Rows in each list; default: what fits'),
    show: z.array(z.enum(dealExtras)).optional().describe('Of open opportunities'),
  }),
  output: z.looseObject({ ...answerFields, coverage: coverage.optional() }),
  async run(tenant, { company, parts: selected, rows, show = [] }, call) {
    const resolved = await resolveRecord(tenant, 'company', company, call, { askFirst: false });
    if (resolved.kind !== 'one') return ambiguousAnswer(tenant, 'company', company, resolved, call);
    return brief(tenant, resolved.record, { parts: selected ?? [], rows, show }, call);
  },
});

/** The parts of a brief: the collections that each needs, and its fields in the answer. */
const parts = {
  contacts: { from: ['contact'], shows: ['contacts'] },
  opportunities: { from: ['opportunity'], shows: ['open', 'closed', 'probability'] },
  quotes: { from: ['quote'], shows: ['quotes'] },
  contracts: { from: ['contract_item'], shows: ['contractItems'] },
  pricing: { from: ['discount_group', 'pricing_book'], shows: ['discountGroups', 'pricingBooks'] },
  never_bought: { from: ['quote', 'product', 'category'], shows: ['neverBought'] },
  recent_activity: { from: ['contact', 'opportunity', 'quote'], shows: ['recentActivity'] },
} as const satisfies Record<
  (typeof partNames)[number],
  { from: readonly Resource[]; shows: readonly (keyof CompanyBrief)[] }
>;

type Part = keyof typeof parts;

interface BriefArguments {
  /** All, if empty. */
  parts: readonly Part[];
  rows: number | undefined;
  show: readonly DealExtra[];
}

/** The most rows of a list. */
const maxRows = 50;
/** Tokens up to which rows are added, by an estimate that is up to half too high; fewer if all parts are shown. */
const targetTokens = { all: 2_900, some: 3_600 };

async function brief(
  tenant: Tenant,
  company: Company,
  asked: BriefArguments,
  call: ToolCall,
): Promise<Answer> {
  const { parts: some, rows = maxRows, show } = asked;
  const selected = some.length > 0 ? some : partNames;
  const from = [...new Set(selected.flatMap((part) => parts[part].from))];
  const read = await readCollections(tenant, ['company'], from, call);
  return memoizedAnswer(tenant, read, { tool: 'company', company, ...asked }, async () => {
    const { records, omitted } = read;
    const quotes = selected.includes('quotes') || selected.includes('never_bought');
    const of = <R extends ApiRecord>(all: readonly R[] | undefined) =>
      recordsOfCompany(tenant, company, all);
    const ofCompany = {
      contacts: await of(records.contact),
      opportunities: await of(records.opportunity),
      quotes: await of(records.quote),
    };
    const own = quotes ? recordsOf(company, ofCompany.quotes ?? []) : [];
    const all = ofCompany.quotes ?? [];
    const { quotes: withItems, coverage } = await readItems(tenant, all, own, call, read.coverage);
    const market = await marketFor(tenant, records);
    await waitForSlice();
    const about = await runInSlices(
      companyBrief(
        {
          company,
          ...ofCompany,
          quotes: ofCompany.quotes && withItems,
          contractItems: records.contract_item,
          discountGroups: records.discount_group,
          pricingBooks: records.pricing_book,
          products: records.product,
          categories: records.category,
        },
        {
          today: today(),
          currencyOf: currenciesFor(tenant, records.company),
          market,
          nameOf: (person) => ownerNamesFor(tenant, records.opportunity, records.quote).get(person),
          ...compact({ probability: probabilityScaleFor(tenant, records.opportunity) }),
          maxRows: rows,
          show,
        },
      ),
    );
    await waitForSlice();
    const shown = selectParts(about, selected);
    const beta = shown.contractItems
      ? [wording`Contract items are beta: fields may change or be missing.`]
      : [];
    const notes = [...beta, ...unreadPurchases(shown, records.quote), ...omitted];
    const write = (count: number): Answer => ({
      summary: companySummary(shown),
      data: { ...limitLists(shown, count), coverage: toCoverage(coverage) },
      notes,
    });
    const target = some.length > 0 ? targetTokens.some : targetTokens.all;
    return answerWithRows(rows, write, asked.rows === undefined ? target : undefined);
  });
}

/** Products are recommended by the purchases of others, whose quotes are not read one by one. */
function unreadPurchases(
  { neverBought }: ShownParts,
  quotes: readonly Quote[] = [],
): readonly Wording[] {
  const unread = quotes.filter(hasUnknownItems).length;
  return neverBought && unread > 0
    ? [
        wording`How many companies bought a product is counted without ${plural(unread, 'quote')} whose items the service's lists leave out.`,
      ]
    : [];
}

type ShownParts = Pick<CompanyBrief, 'today' | 'company'> & Partial<CompanyBrief>;

/** Drops parts that were not asked for: the records of one part may fill others too. */
function selectParts(about: CompanyBrief, selected: readonly Part[]): ShownParts {
  const keys = new Set<string>(selected.flatMap((part) => parts[part].shows));
  const { today, company, deleted, ...others } = about;
  const kept = Object.entries(others).filter(([key]) => keys.has(key));
  return { today, company, ...Object.fromEntries(kept), ...(deleted && { deleted }) };
}

function companySummary({ company, open, quotes }: ShownParts): Wording {
  const deals = open && wording`${plural(open.total, 'open opportunity')}${formatValue(open)}`;
  const offers = quotes && plural(quotes.total, 'quote');
  const facts = [deals, offers].filter((fact) => fact !== undefined);
  const known = company.name ?? company.id;
  const who = known === undefined ? wording`Company` : quote(known);
  const first = deletedWords(company.deleted);
  return facts.length === 0
    ? wording`${first}${who}.`
    : wording`${first}${who}: ${join(facts, ', ')}.`;
}

const formatValue = ({ value }: NonNullable<CompanyBrief['open']>): Wording =>
  value ? wording` (total contract value ${formatAmounts(value)})` : wording``;
