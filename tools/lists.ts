import * as z from 'zod';
import type { Assignable } from '../src/briefs/prices/books.ts';
import { type ListArguments, listRecords } from '../src/lists/list-records.ts';
import type { RecordOf, Resource } from '../src/service/records/records.ts';
import { type Wording, wording } from '../src/text/untrusted-text.ts';
import { emptySearch, listAnswer } from '../src/tool-kit/answers.ts';
import { type AnyTool, defineTool } from '../src/tool-kit/define-tool.ts';
import * as schemas from '../src/tool-kit/schemas.ts';

interface ListTool<R extends Resource> {
  name: string;
  title: string;
  description: string;
  resource: R;
  input:
    | typeof schemas.listInput
    | typeof schemas.searchInput
    | typeof schemas.filterInput
    | typeof productInput;
  /** What is asked for, where not all arguments are names of the service. */
  query?(args: z.output<z.ZodObject<typeof productInput>>): ListArguments;
  /** Said where nothing passes the filters, or has the text. */
  empty?: Wording;
  /** Said with these records. */
  noteOn?(records: readonly RecordOf[R][]): Wording | false;
}

const listTool = <R extends Resource>({
  resource,
  input,
  empty,
  query,
  noteOn,
  ...words
}: ListTool<R>): AnyTool =>
  defineTool({
    ...words,
    toolset: 'routes',
    needs: [`${resource}:read`],
    input: z.strictObject(input),
    output: schemas.listOutput,
    async run(tenant, args, call) {
      const asked: ListArguments = query?.(args) ?? args;
      const list = await listRecords(tenant, resource, asked, call);
      return listAnswer(resource, list, args, {
        empty: asked.query || asked.filters ? empty : undefined,
        note: noteOn?.(list.records),
      });
    },
  });

/** Names no company: the companies themselves name their classification. */
const noteOnClassified = (assigned: readonly Assignable[]): Wording | false =>
  assigned.some(({ classificationIds = [] }) => classificationIds.length > 0) &&
  wording`The companies of a classification: cpq_list_companies with filters classificationId:ID.`;

const productInput = {
  ...schemas.searchInput,
  include_bundles: z.boolean().optional().describe('Bundles too'),
};

/** A filter for bundles would find none of them otherwise. */
const asksForBundles = (filters = ''): boolean =>
  filters
    .toLowerCase()
    .split(',')
    .some((filter) => filter.includes('producttype:') && filter.includes('bundle'));

/** The lists of the service's routes, in the order in which a host shows them. */
export const lists: readonly AnyTool[] = [
  listTool({
    name: 'cpq_list_companies',
    title: 'List companies',
    description:
      'Companies with type, currency, place and account manager. Keys: type, city, accountManager, labels, externalIdentifier, created. For all about one account use cpq_brief_company.',
    resource: 'company',
    input: schemas.searchInput,
    empty: emptySearch(wording`filters such as type:customer take the values as stored`),
  }),
  listTool({
    name: 'cpq_list_contacts',
    title: 'List contacts',
    description:
      'People at companies, with e-mail, phone and company. Keys: name, company, companyId, labels, deleted.',
    resource: 'contact',
    input: schemas.searchInput,
    empty: emptySearch(wording`cpq_find tolerates typing errors`),
  }),
  listTool({
    name: 'cpq_list_opportunities',
    title: 'List opportunities',
    description:
      'Opportunities with company, stage, probability, revenue, expected close and owner. Keys: company, stage, owner, outcome (open, won, lost), created, closes, closed, value, probability, source, ask (~text: what it contains). For totals use cpq_brief_pipeline.',
    resource: 'opportunity',
    input: schemas.searchInput,
    empty: emptySearch(wording`cpq_brief_pipeline shows which stages and owners there are`),
  }),
  listTool({
    name: 'cpq_list_products',
    title: 'List products',
    description:
      'Catalogue products with part number, price, cost, term and category. Keys: manufacturer, category, productType, term, price, listed. detail full adds the values to filter by.',
    resource: 'product',
    input: productInput,
    empty: emptySearch(wording`cpq_find finds part numbers without their dashes and spaces`),
    query: ({ include_bundles, ...args }) => {
      const includeBundles = include_bundles ?? (asksForBundles(args.filters) || undefined);
      return includeBundles === undefined ? args : { ...args, includeBundles };
    },
  }),
  listTool({
    name: 'cpq_list_quotes',
    title: 'List quotes',
    description:
      'Quotes with status, company, validity and totals summed from their items. Keys: status, company, owner, created, sent, expires, oneTime. cpq_brief_quote checks one.',
    resource: 'quote',
    input: schemas.searchInput,
    empty: emptySearch(wording`cpq_find knows quote numbers`),
  }),
  listTool({
    name: 'cpq_list_quote_templates',
    title: 'List quote templates',
    description:
      'Reusable proposal structures and their widgets. full adds styling, localisation, payment terms.',
    resource: 'quote_template',
    input: schemas.listInput,
  }),
  listTool({
    name: 'cpq_list_quote_widgets',
    title: 'List quote widgets',
    description: 'Sections and layout blocks of quote templates. full adds their content.',
    resource: 'quote_widget',
    input: schemas.listInput,
  }),
  listTool({
    name: 'cpq_list_pricing_books',
    title: 'List pricing books',
    description:
      'Special prices: for whom, validity, special-bid number, products. Keys: for, product, validFrom, validTo. full adds the price of each product.',
    resource: 'pricing_book',
    input: schemas.filterInput,
    empty: wording`There are no pricing books, or none passes the filters.`,
    noteOn: noteOnClassified,
  }),
  listTool({
    name: 'cpq_list_categories',
    title: 'List categories',
    description: 'Product categories with their parents; as a tree: cpq_get_category_tree.',
    resource: 'category',
    input: schemas.listInput,
  }),
  listTool({
    name: 'cpq_list_discount_groups',
    title: 'List discount groups',
    description: 'Named discount policies: what is discounted, by how much, and for whom.',
    resource: 'discount_group',
    input: schemas.listInput,
    noteOn: noteOnClassified,
  }),
  listTool({
    name: 'cpq_list_contract_items',
    title: 'List contract items (beta)',
    description:
      'What is under contract: service, company, vendor, term, revenue, profit, start and end. Keys: company, vendor, term, ends. Beta: say so.',
    resource: 'contract_item',
    input: schemas.searchInput,
    empty: emptySearch(wording`cpq_brief_company has those of a company`),
    noteOn: () =>
      wording`Contract items are a beta resource of the service: fields may change or be missing.`,
  }),
];
