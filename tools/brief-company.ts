import * as z from 'zod';
import type { Company, Resource } from '../src/api/records.ts';
import { briefCompany, type CompanyBrief } from '../src/briefs/company.ts';
import { currenciesOf } from '../src/briefs/money.ts';
import { plural } from '../src/briefs/naming.ts';
import { join, quote, type Wording, wording } from '../src/outside-text.ts';
import type { ToolCall } from '../src/tenant/call.ts';
import { resolveRecord } from '../src/tenant/resolve.ts';
import { readSeveral } from '../src/tenant/several.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { askWhich, covers, inWords, today } from './answers.ts';
import { type Answer, coverage, defineTool, reads, said } from './define.ts';

const partNames = [
  'contacts',
  'opportunities',
  'quotes',
  'contracts',
  'pricing',
  'never_bought',
  'lately',
] as const;

export const briefCompanyTool = defineTool({
  name: 'cpq_brief_company',
  title: 'Brief on a company',
  description:
    'One account: contacts, open opportunities, quotes with totals, contract items (beta), discounts and pricing books that apply, products never bought, latest changes.',
  toolset: 'briefs',
  view: 'company',
  needs: ['company:read'],
  hints: reads,
  input: z.strictObject({
    company: z.string().trim().min(1).max(200).describe('Id, external identifier or name'),
    parts: z.array(z.enum(partNames)).optional().describe('Default all'),
    rows: z.int().min(0).max(50).default(4).describe('Rows in each list'),
  }),
  output: z.looseObject({ ...said, coverage: coverage.optional() }),
  async run(tenant, { company, parts: wanted, rows }, call) {
    const meant = await resolveRecord(tenant, 'company', company, call, { askFirst: false });
    if (meant.kind !== 'one') return askWhich('company', company, meant);
    return brief(tenant, meant.record, wanted?.length ? wanted : partNames, rows, call);
  },
});

/** The parts of a brief: what each is read from, and where it stands in the answer. */
const parts = {
  contacts: { from: ['contact'], shows: ['contacts'] },
  opportunities: { from: ['opportunity'], shows: ['open', 'closed', 'probability'] },
  quotes: { from: ['quote'], shows: ['quotes'] },
  contracts: { from: ['contract_item'], shows: ['contractItems'] },
  pricing: { from: ['discount_group', 'pricing_book'], shows: ['discountGroups', 'pricingBooks'] },
  never_bought: { from: ['quote', 'product', 'category'], shows: ['neverBought'] },
  lately: { from: ['contact', 'opportunity', 'quote'], shows: ['lately'] },
} as const satisfies Record<
  (typeof partNames)[number],
  { from: readonly Resource[]; shows: readonly (keyof CompanyBrief)[] }
>;

type Part = keyof typeof parts;

async function brief(
  tenant: Tenant,
  company: Company,
  wanted: readonly Part[],
  maxRows: number,
  call: ToolCall,
): Promise<Answer> {
  const from = [...new Set(wanted.flatMap((part) => parts[part].from))];
  const { records, coverage: read, left } = await readSeveral(tenant, ['company'], from, call);
  const about = briefCompany(
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
  const shown = only(about, wanted);
  const beta = shown.contractItems
    ? [wording`Contract items are beta: fields may change or be missing.`]
    : [];
  return {
    summary: summaryOf(shown),
    data: { ...shown, coverage: covers(read) },
    notes: [...beta, ...left],
  };
}

type Shown = Pick<CompanyBrief, 'today' | 'company'> & Partial<CompanyBrief>;

/** What one part is read from may fill others, which nobody asked for. */
function only(about: CompanyBrief, wanted: readonly Part[]): Shown {
  const keys = new Set<string>(wanted.flatMap((part) => parts[part].shows));
  const { today, company, ...others } = about;
  const kept = Object.entries(others).filter(([key]) => keys.has(key));
  return { today, company, ...Object.fromEntries(kept) };
}

function summaryOf({ company, open, quotes }: Shown): Wording {
  const deals = open && wording`${plural(open.total, 'open opportunity')}${worth(open)}`;
  const offers = quotes && plural(quotes.total, 'quote');
  const facts = [deals, offers].filter((fact) => fact !== undefined);
  const known = company.name ?? company.id;
  const who = known === undefined ? wording`Company` : quote(known);
  return facts.length === 0 ? wording`${who}.` : wording`${who}: ${join(facts, ', ')}.`;
}

function worth({ oneTime, monthly }: NonNullable<CompanyBrief['open']>): Wording {
  const amounts = [
    oneTime && wording`${inWords(oneTime)} one-time`,
    monthly && wording`${inWords(monthly)} monthly`,
  ].filter((amount) => amount !== undefined);
  return amounts.length > 0 ? wording` (${join(amounts, ', ')})` : wording``;
}
