import * as z from 'zod';
import { type CompanyBrief, companyBrief } from '../src/briefs/company/company.ts';
import { restsOn } from '../src/briefs/rests-on.ts';
import { dealExtras } from '../src/figures/deals.ts';
import { nonBlank } from '../src/figures/fields.ts';
import { plural } from '../src/figures/naming.ts';
import type { KnownRecords } from '../src/names/references.ts';
import type { Company, Resource } from '../src/service/records/records.ts';
import { runInSlices, waitForSlice } from '../src/slices.ts';
import { gapsAbout } from '../src/tenant/field-gaps.ts';
import { currenciesFor, ownerNamesFor } from '../src/tenant/prepared.ts';
import { readCollections } from '../src/tenant/read-collections.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { join, quote, type Wording, wording } from '../src/text/untrusted-text.ts';
import { formatAmounts, toCoverage, today } from '../src/tool-kit/answers.ts';
import { type Answer, defineTool } from '../src/tool-kit/define-tool.ts';
import { deletedWords, linkTo, recordOrQuestion } from '../src/tool-kit/one-record.ts';
import { answerWithRows, limitLists } from '../src/tool-kit/rows.ts';
import * as schemas from '../src/tool-kit/schemas.ts';
import { fieldOf, keysOf } from '../src/values.ts';

/** The parts of a brief: the collections that each needs, and its fields in the answer. */
const parts = {
  contacts: { from: ['contact'], shows: ['contacts'] },
  opportunities: { from: ['opportunity'], shows: ['open', 'closed', 'probability'] },
  quotes: { from: ['quote'], shows: ['quotes'] },
  contracts: { from: ['contract_item'], shows: ['contractItems'] },
  pricing: { from: ['discount_group', 'pricing_book'], shows: ['discountGroups', 'pricingBooks'] },
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
    'One account: contacts, open opportunities, quotes with totals, contract items (beta), discounts and pricing books that apply, latest changes.',
  toolset: 'briefs',
  view: 'company',
  needs: ['company:read'],
  input: z.strictObject({
    company: schemas.nameOfRecord.describe('Id, external identifier or name'),
    parts: z
      .array(z.enum(keysOf(parts)))
      .optional()
      .describe('Default all'),
    rows: z.int().min(0).max(50).optional().describe('Rows in each list; default: what fits'),
    show: z.array(z.enum(dealExtras)).optional().describe('Of open opportunities'),
  }),
  output: { coverage: schemas.coverage.optional() },
  async run(tenant, { company: text, parts: some = [], rows, show = [] }, call) {
    const { record: company, question } = await recordOrQuestion(tenant, 'company', text, call);
    if (question) return question;
    const selected = some.length > 0 ? some : keysOf(parts);
    const from = [...new Set(selected.flatMap((part) => parts[part].from))];
    const read = await readCollections(
      tenant,
      ['company'],
      from,
      call,
      restsOn.company,
      (resource) => (resource === 'company' ? { only: [company] } : { of: company }),
    );
    const accountManager = managerOf(tenant, company, read.records);
    // Its deals, and those that may be.
    const opportunity = (read.records.opportunity ?? []).filter(
      ({ company: { id = company.id } = {} }) => id === company.id,
    );
    const fields = gapsAbout({ opportunity }, read.coverage.fields);
    const options = {
      today: today(),
      currencyOf: currenciesFor(tenant, [company]),
      accountManager,
      probability: read.probability,
      maxRows: rows ?? maxRows,
      show,
    };
    const whole = await runInSlices(companyBrief(company, read.records, options));
    const brief = selectParts(whole, selected);
    await waitForSlice();
    const notes = [
      brief.contractItems && wording`Contract items are beta: fields may change or be missing.`,
      brief.company.accountManagerId !== undefined && unknownManager,
      ...read.omitted,
    ];
    const answer = (count: number): Answer => ({
      summary: companySummary(brief),
      data: {
        ...linkTo(tenant.site, 'company', company.id),
        ...limitLists(brief, count),
        coverage: toCoverage({ ...read.coverage, fields }),
      },
      notes,
    });
    const target = some.length > 0 ? targetTokens.some : targetTokens.all;
    return answerWithRows(rows ?? maxRows, answer, rows === undefined ? target : undefined);
  },
});

/** The name of a person is in the deals and quotes that the person owns: in those of the company, or others read before. */
function managerOf(
  tenant: Tenant,
  { accountManagerId, accountManager }: Company,
  { opportunity, quote: quotes }: KnownRecords,
): string | undefined {
  const told = nonBlank(fieldOf(accountManager, 'name'));
  if (told !== undefined || !accountManagerId) return told;
  const [deals, others] = [tenant.cached('opportunity'), tenant.cached('quote')];
  const names = [ownerNamesFor(tenant, opportunity, quotes), ownerNamesFor(tenant, deals, others)];
  return names.map((known) => nonBlank(known.get(accountManagerId))).find(Boolean);
}

const unknownManager = wording`The account manager's name is in no deal or quote that was read: cpq_get_record with fields accountManager reads all deals.`;

type ShownParts = Pick<CompanyBrief, 'today' | 'company'> & Partial<CompanyBrief>;

/** Drops parts that were not asked for: the records of one part may fill others too. */
function selectParts(about: CompanyBrief, selected: readonly Part[]): ShownParts {
  const keys = new Set<string>(selected.flatMap((part) => parts[part].shows));
  const { today, company, deleted, ...others } = about;
  const kept = Object.entries(others).filter(([key]) => keys.has(key));
  return { today, company, ...Object.fromEntries(kept), ...(deleted && { deleted }) };
}

function companySummary({ company, open, quotes }: ShownParts): Wording {
  const worth =
    open?.value !== undefined && wording` (total contract value ${formatAmounts(open.value)})`;
  const deals = open && wording`${plural(open.total, 'open opportunity')}${worth}`;
  const offers = quotes && plural(quotes.total, 'quote');
  const known = company.name ?? company.id;
  const who = known === undefined ? 'Company' : quote(known);
  const facts = join([deals, offers], ', ');
  const what = facts !== '' && wording`: ${facts}`;
  return wording`${deletedWords(company.deleted)}${who}${what}.`;
}
