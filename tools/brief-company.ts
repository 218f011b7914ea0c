import * as z from 'zod';
import { type CompanyBrief, companyBrief } from '../src/briefs/company/company.ts';
import { restsOn } from '../src/briefs/rests-on.ts';
import { dealExtras } from '../src/figures/deals.ts';
import { plural } from '../src/figures/naming.ts';
import type { PartOf } from '../src/reading/parts.ts';
import type { Company, Resource } from '../src/service/records/records.ts';
import { runInSlices, waitForSlice } from '../src/slices.ts';
import type { ToolCall } from '../src/tenant/call.ts';
import { currenciesFor, marketFor, ownerNamesFor } from '../src/tenant/prepared.ts';
import { readCollections } from '../src/tenant/read-collections.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { join, quote, type Wording, wording } from '../src/text/untrusted-text.ts';
import {
  answerWithRows,
  deletedWords,
  formatAmounts,
  limitLists,
  linkTo,
  recordOrQuestion,
  toCoverage,
  today,
} from '../src/tool-kit/answers.ts';
import { type Answer, coverage, defineTool } from '../src/tool-kit/define-tool.ts';
import { memoizedAnswer } from '../src/tool-kit/memoized-answers.ts';
import { keysOf } from '../src/values.ts';

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
  string,
  { from: readonly Resource[]; shows: readonly (keyof CompanyBrief)[] }
>;

type Part = keyof typeof parts;

const maxRows = 50;
/** Tokens up to which rows are added, by an estimate that is up to half too high; fewer if all parts are shown. */
const targetTokens = { all: 2_900, some: 3_600 };

export const briefCompany = defineTool({
  name: 'cpq_brief_company',
  title: 'Brief on a company',
  description:
    'One account: contacts, open opportunities, quotes with totals, contract items (beta), discounts and pricing books that apply, products never bought, latest changes.',
  toolset: 'briefs',
  view: 'company',
  needs: ['company:read'],
  input: z.strictObject({
    company: z.string().trim().min(1).max(200).describe('Id, external identifier or name'),
    parts: z
      .array(z.enum(keysOf(parts)))
      .optional()
      .describe('Default all'),
    rows: z.int().min(0).max(50).optional().describe('Rows in each list; default: what fits'),
    show: z.array(z.enum(dealExtras)).optional().describe('Of open opportunities'),
  }),
  output: { coverage: coverage.optional() },
  async run(tenant, { company: text, parts: some = [], rows, show = [] }, call) {
    const { record: company, question } = await recordOrQuestion(tenant, 'company', text, call);
    if (question) return question;
    const leavesOut = some.length === 0 && (await isCatalogueLarge(tenant, call));
    const all = keysOf(parts).filter((part) => !(leavesOut && part === 'never_bought'));
    const selected = some.length > 0 ? some : all;
    const from = [...new Set(selected.flatMap((part) => parts[part].from))];
    const read = await readCollections(
      tenant,
      ['company'],
      from,
      call,
      restsOn.company,
      (resource) => partFor(resource, company, selected),
    );
    const asked = { tool: 'company', company, some, rows, show };
    return memoizedAnswer(tenant, read, asked, async () => {
      const { records } = read;
      const about = {
        company,
        contacts: records.contact,
        opportunities: records.opportunity,
        quotes: records.quote,
        contractItems: records.contract_item,
        discountGroups: records.discount_group,
        pricingBooks: records.pricing_book,
      };
      const owners = () => ownerNamesFor(tenant, records.opportunity, records.quote);
      const options = {
        today: today(),
        currencyOf: currenciesFor(tenant, [company]),
        market: await marketFor(tenant, records),
        nameOf: (person: string) => owners().get(person),
        probability: read.probability,
        maxRows: rows ?? maxRows,
        show,
      };
      await waitForSlice();
      const brief = selectParts(await runInSlices(companyBrief(about, options)), selected);
      await waitForSlice();
      const beta = brief.contractItems
        ? [wording`Contract items are beta: fields may change or be missing.`]
        : [];
      const answer = (count: number): Answer => ({
        summary: companySummary(brief),
        data: {
          ...linkTo(tenant.site, 'company', company.id),
          ...limitLists(brief, count),
          coverage: toCoverage(read.coverage),
        },
        notes: [...beta, ...(leavesOut ? [unreadMarket] : []), ...read.omitted],
      });
      const target = some.length > 0 ? targetTokens.some : targetTokens.all;
      return answerWithRows(rows ?? maxRows, answer, rows === undefined ? target : undefined);
    });
  },
});

/** What was bought of the catalogue is told of all companies; the other parts need only the company's records. */
const partFor = (
  resource: Resource,
  company: Company,
  selected: readonly Part[],
): PartOf | undefined => {
  if (resource === 'company') return { only: [company] };
  return selected.includes('never_bought') && ['quote', 'product'].includes(resource)
    ? undefined
    : { of: company };
};

/** Whether reading all products takes many requests. What refuses them is told by the reading itself. */
const isCatalogueLarge = (tenant: Tenant, call: ToolCall): Promise<boolean> =>
  tenant.collection('product', call, { ids: [] }).then(
    ({ isPart = false }) => isPart,
    () => false,
  );

const unreadMarket = wording`Products never bought are left out, because they need the whole catalogue: ask for the part never_bought.`;

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
