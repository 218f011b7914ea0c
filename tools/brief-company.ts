import * as z from 'zod';
import { type CompanyBrief, companyBrief, recordsOf } from '../src/briefs/company.ts';
import { currenciesOf } from '../src/briefs/money.ts';
import { plural } from '../src/briefs/naming.ts';
import { hasUnknownItems } from '../src/briefs/quote-totals.ts';
import type { Company, Quote, Resource } from '../src/records/records.ts';
import type { ToolCall } from '../src/tenant/call.ts';
import { readCollections, readItems } from '../src/tenant/read-collections.ts';
import { resolveRecord } from '../src/tenant/resolve.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { join, quote, type Wording, wording } from '../src/text/untrusted-text.ts';
import { ambiguousAnswer, formatAmounts, toCoverage, today } from '../src/tool-kit/answers.ts';
import {
  type Answer,
  answerFields,
  coverage,
  defineTool,
  readOnlyHints,
} from '../src/tool-kit/define-tool.ts';

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
    rows: z.int().min(0).max(50).default(4).describe('Rows in each list'),
  }),
  output: z.looseObject({ ...answerFields, coverage: coverage.optional() }),
  async run(tenant, { company, parts: selected, rows }, call) {
    const resolved = await resolveRecord(tenant, 'company', company, call, { askFirst: false });
    if (resolved.kind !== 'one') return ambiguousAnswer('company', company, resolved);
    return brief(tenant, resolved.record, selected?.length ? selected : partNames, rows, call);
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

async function brief(
  tenant: Tenant,
  company: Company,
  selected: readonly Part[],
  maxRows: number,
  call: ToolCall,
): Promise<Answer> {
  const from = [...new Set(selected.flatMap((part) => parts[part].from))];
  const {
    records,
    coverage: read,
    omitted: left,
  } = await readCollections(tenant, ['company'], from, call);
  const quotes = selected.includes('quotes') || selected.includes('never_bought');
  const own = quotes ? recordsOf(company, records.quote ?? []) : [];
  const coverage = await readItems(tenant, own, call, read);
  const about = companyBrief(
    {
      company,
      contacts: records.contact,
      opportunities: records.opportunity,
      quotes: records.quote,
      contractItems: records.contract_item,
      discountGroups: records.discount_group,
      pricingBooks: records.pricing_book,
      products: records.product,
      categories: records.category,
    },
    { today: today(), currencyOf: currenciesOf(records.company ?? []), maxRows },
  );
  const shown = selectParts(about, selected);
  const beta = shown.contractItems
    ? [wording`Contract items are beta: fields may change or be missing.`]
    : [];
  return {
    summary: companySummary(shown),
    data: { ...shown, coverage: toCoverage(coverage) },
    notes: [...beta, ...unreadPurchases(shown, records.quote), ...left],
  };
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
  const { today, company, ...others } = about;
  const kept = Object.entries(others).filter(([key]) => keys.has(key));
  return { today, company, ...Object.fromEntries(kept) };
}

function companySummary({ company, open, quotes }: ShownParts): Wording {
  const deals = open && wording`${plural(open.total, 'open opportunity')}${formatWorth(open)}`;
  const offers = quotes && plural(quotes.total, 'quote');
  const facts = [deals, offers].filter((fact) => fact !== undefined);
  const known = company.name ?? company.id;
  const who = known === undefined ? wording`Company` : quote(known);
  return facts.length === 0 ? wording`${who}.` : wording`${who}: ${join(facts, ', ')}.`;
}

function formatWorth({ oneTime, monthly }: NonNullable<CompanyBrief['open']>): Wording {
  const amounts = [
    oneTime && wording`${formatAmounts(oneTime)} one-time`,
    monthly && wording`${formatAmounts(monthly)} monthly`,
  ].filter((amount) => amount !== undefined);
  return amounts.length > 0 ? wording` (${join(amounts, ', ')})` : wording``;
}
