import * as z from 'zod';
import { pluralOf } from '../src/figures/naming.ts';
import { shownProducts } from '../src/lists/columns.ts';
import type { RecordShape } from '../src/lists/concise.ts';
import { nameProducts, readForColumns, showProductNames } from '../src/lists/known.ts';
import { listRecords } from '../src/lists/list-records.ts';
import type { RecordOf, Resource } from '../src/service/records/records.ts';
import type { PageQuery } from '../src/service/routes.ts';
import type { Tenant, ToolCall } from '../src/tenant/tenant.ts';
import { applying, type Wording, wording } from '../src/text/untrusted-text.ts';
import { emptySearch, listAnswer } from '../src/tool-kit/answers.ts';
import {
  type AnyTool,
  defineTool,
  filterInput,
  listInput,
  listOutput,
  searchInput,
} from '../src/tool-kit/define-tool.ts';

interface ListTool<R extends Resource> {
  resource: R;
  /** Ends the title. */
  mark?: string;
  description: string;
  /** Default: `searchInput`. */
  input?: typeof listInput | typeof filterInput | typeof productInput;
  /** What is asked for, where not all arguments are names of the service. */
  query?(args: z.output<z.ZodObject<typeof productInput>>): PageQuery;
  /** Said where nothing passes the filters, or has the text. */
  empty?: Wording;
  /** Said with these records. */
  notesOn?(records: readonly RecordOf[R][]): readonly Wording[];
  /** The rows with what is read from elsewhere. */
  complete?(
    tenant: Tenant,
    records: readonly RecordOf[R][],
    shape: RecordShape,
    call: ToolCall,
  ): Promise<readonly RecordOf[R][]>;
}

const listTool = <R extends Resource>({
  resource,
  mark = '',
  description,
  input,
  empty,
  query,
  notesOn,
  complete,
}: ListTool<R>): AnyTool =>
  defineTool({
    name: `cpq_list_${pluralOf(resource)}`,
    title: `List ${pluralOf(resource).replace('_', ' ')}${mark}`,
    description,
    toolset: 'routes',
    needs: [`${resource}:read`],
    input: z.strictObject(input ?? searchInput),
    output: listOutput,
    async run(tenant, args, call) {
      if (args.fields) await readForColumns(tenant, resource, args.fields, call);
      const asked: PageQuery = query?.(args) ?? args;
      const page = await listRecords(tenant, resource, asked, call);
      const records = await complete?.(tenant, page.records, args, call);
      const list = records ? { ...page, records } : page;
      return listAnswer(resource, list, args, {
        empty: asked.query || asked.filters ? empty : undefined,
        notes: notesOn?.(list.records),
      });
    },
  });

/** Names no company: the companies themselves name their classification. */
const notesOnClassified = (
  assigned: readonly { classificationIds?: readonly string[] }[],
): readonly Wording[] =>
  applying([
    assigned.some(({ classificationIds = [] }) => classificationIds.length > 0) &&
      wording`The companies of a classification: cpq_list_companies with filters classificationId:ID.`,
  ]);

const productInput = {
  ...searchInput,
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
    resource: 'company',
    description:
      'Companies with type, currency, place and account manager. Keys: type, city, accountManager, labels, externalIdentifier, created. For all about one account use cpq_brief_company.',
    empty: emptySearch(wording`filters such as type:customer take the values as stored`),
  }),
  listTool({
    resource: 'contact',
    description:
      'People at companies, with e-mail, phone and company. Keys: name, company, companyId, labels, deleted.',
    empty: emptySearch(wording`cpq_find tolerates typing errors`),
  }),
  listTool({
    resource: 'opportunity',
    description:
      'Opportunities with company, stage, probability, revenue, expected close and owner. Keys: company, stage, owner, outcome (open, won, lost), created, closes, closed, value, probability, source, ask (~text: what it contains). For totals use cpq_brief_pipeline.',
    empty: emptySearch(wording`cpq_brief_pipeline shows which stages and owners there are`),
  }),
  listTool({
    resource: 'product',
    description:
      'Catalogue products with part number, price, cost, term and category. Keys: manufacturer, category, productType, term, price, listed. detail full adds the values to filter by.',
    input: productInput,
    empty: emptySearch(wording`cpq_find finds part numbers without their dashes and spaces`),
    query: ({ include_bundles, ...args }) => {
      const includeBundles = include_bundles ?? (asksForBundles(args.filters) || undefined);
      return includeBundles === undefined ? args : { ...args, includeBundles };
    },
  }),
  listTool({
    resource: 'quote',
    description:
      'Quotes with status, company, validity and totals summed from their items. Keys: status, company, owner, created, sent, expires, oneTime. cpq_brief_quote checks one.',
    empty: emptySearch(wording`cpq_find knows quote numbers`),
  }),
  listTool({
    resource: 'quote_template',
    description:
      'Reusable proposal structures and their widgets. full adds styling, localisation, payment terms.',
    input: listInput,
  }),
  listTool({
    resource: 'quote_widget',
    description: 'Sections and layout blocks of quote templates. full adds their content.',
    input: listInput,
  }),
  listTool({
    resource: 'pricing_book',
    description:
      'Special prices: for whom, validity, special-bid number, products. Keys: for, product, validFrom, validTo. full adds the price of each product.',
    input: filterInput,
    empty: wording`There are no pricing books, or none passes the filters.`,
    notesOn: notesOnClassified,
    complete: (tenant, books, { detail, fields }, call) => {
      const isWhole = fields?.length ? showProductNames(fields) : detail === 'full';
      const shown = fields?.length ? 0 : shownProducts;
      return nameProducts(tenant, books, call, isWhole ? undefined : shown);
    },
  }),
  listTool({
    resource: 'category',
    description: 'Product categories with their parents; as a tree: cpq_get_category_tree.',
    input: listInput,
  }),
  listTool({
    resource: 'discount_group',
    description: 'Named discount policies: what is discounted, by how much, and for whom.',
    input: listInput,
    notesOn: notesOnClassified,
  }),
  listTool({
    resource: 'contract_item',
    mark: ' (beta)',
    description:
      'What is under contract: service, company, vendor, term, revenue, profit, start and end. Keys: company, vendor, term, ends. Beta: say so.',
    empty: emptySearch(wording`cpq_brief_company has those of a company`),
    notesOn: () => [
      wording`Contract items are a beta resource of the service: fields may change or be missing.`,
    ],
  }),
];
