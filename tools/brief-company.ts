import * as z from 'zod';
import type { Company } from '../src/api/records.ts';
import { briefCompany, type CompanyBrief } from '../src/briefs/company.ts';
import { currenciesOf } from '../src/briefs/money.ts';
import type { ToolCall } from '../src/tenant/call.ts';
import { meantCompany } from '../src/tenant/find.ts';
import { readSeveral } from '../src/tenant/several.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { askWhich, covers, inWords, today } from './answers.ts';
import { type Answer, coverage, defineTool, reads, said } from './define.ts';

export const briefCompanyTool = defineTool({
  name: 'cpq_brief_company',
  title: 'Brief on a company',
  description:
    'One account: contacts, open opportunities, quotes with totals, contract items (beta), discounts and pricing books that apply, products never bought, latest changes.',
  toolset: 'briefs',
  needs: ['company:read'],
  hints: reads,
  input: z.strictObject({
    company: z.string().trim().min(1).max(200).describe('Id, external identifier or name'),
    rows: z.int().min(0).max(50).default(5).describe('Rows in each list'),
  }),
  output: z.looseObject({ ...said, coverage: coverage.optional() }),
  async run(tenant, { company, rows }, call) {
    const meant = await meantCompany(tenant, company, call);
    if ('candidates' in meant) return askWhich('company', company, meant);
    return brief(tenant, meant.record, rows, call);
  },
});

const parts = [
  'contact',
  'opportunity',
  'quote',
  'contract_item',
  'discount_group',
  'pricing_book',
  'product',
  'category',
] as const;

async function brief(
  tenant: Tenant,
  company: Company,
  maxRows: number,
  call: ToolCall,
): Promise<Answer> {
  const { records, coverage: read, left } = await readSeveral(tenant, ['company'], parts, call);
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
  const beta = records.contract_item
    ? ['Contract items are beta: fields may change or be missing.']
    : [];
  return {
    summary: summaryOf(about),
    data: { ...about, coverage: covers(read) },
    notes: [...beta, ...left],
  };
}

function summaryOf({ company, open, quotes }: CompanyBrief): string {
  const deals = open ? `${open.total} open opportunities${worth(open)}` : '';
  const offers = quotes ? `${quotes.total} quotes` : '';
  const facts = [deals, offers].filter((fact) => fact !== '').join(', ');
  return `${company.name ?? company.id ?? 'Company'}${facts === '' ? '' : `: ${facts}`}.`;
}

function worth({ oneTime, monthly }: NonNullable<CompanyBrief['open']>): string {
  const amounts = [
    inWords(oneTime) && `${inWords(oneTime)} one-time`,
    inWords(monthly) && `${inWords(monthly)} monthly`,
  ].filter(Boolean);
  return amounts.length > 0 ? ` (${amounts.join(', ')})` : '';
}
