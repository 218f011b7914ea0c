import type { AnyTool } from '../src/tool-kit/define-tool.ts';
import { briefCompany } from './brief-company.ts';
import { briefPipeline } from './brief-pipeline.ts';
import { briefQuote } from './brief-quote.ts';
import { checkSalesData } from './check-sales-data.ts';
import { find } from './find.ts';
import { getCategoryTree } from './get-category-tree.ts';
import { getRecord } from './get-record.ts';
import { listCategories } from './list-categories.ts';
import { listChanges } from './list-changes.ts';
import { listCompanies } from './list-companies.ts';
import { listContacts } from './list-contacts.ts';
import { listContractItems } from './list-contract-items.ts';
import { listDiscountGroups } from './list-discount-groups.ts';
import { listEvents } from './list-events.ts';
import { listOpportunities } from './list-opportunities.ts';
import { listPricingBooks } from './list-pricing-books.ts';
import { listProducts } from './list-products.ts';
import { listQuoteTemplates } from './list-quote-templates.ts';
import { listQuoteWidgets } from './list-quote-widgets.ts';
import { listQuotes } from './list-quotes.ts';
import { revertChange } from './revert-change.ts';
import { upsertOpportunity } from './upsert-opportunity.ts';

/** Every tool, in the order in which a host lists them. The only file that knows them all. */
export const catalog: readonly AnyTool[] = [
  listCompanies,
  listContacts,
  listOpportunities,
  listProducts,
  listQuotes,
  listQuoteTemplates,
  listQuoteWidgets,
  listPricingBooks,
  listCategories,
  getCategoryTree,
  listDiscountGroups,
  listContractItems,
  upsertOpportunity,
  getRecord,
  find,
  briefPipeline,
  briefCompany,
  briefQuote,
  checkSalesData,
  listEvents,
  listChanges,
  revertChange,
];

export const toolByName: ReadonlyMap<string, AnyTool> = new Map(
  catalog.map((tool) => [tool.name, tool]),
);
