import type { AnyTool } from '../src/tool-kit/define-tool.ts';
import { answerChange } from './answer-change.ts';
import { briefCompany } from './brief-company.ts';
import { briefPipeline, pipelineDeals } from './brief-pipeline.ts';
import { briefQuote } from './brief-quote.ts';
import { briefQuotes } from './brief-quotes.ts';
import { checkSalesData } from './check-sales-data.ts';
import { find } from './find.ts';
import { getCategoryTree } from './get-category-tree.ts';
import { getRecord } from './get-record.ts';
import { listChanges } from './list-changes.ts';
import { listEvents } from './list-events.ts';
import { lists } from './lists.ts';
import { pipelineChanges } from './pipeline-changes.ts';
import { priceProduct } from './price-product.ts';
import { revertChange } from './revert-change.ts';
import { upsertOpportunity } from './upsert-opportunity.ts';

/** Every tool, in the order in which a host lists them. The only file that knows them all. */
export const catalog: readonly AnyTool[] = [
  ...lists,
  getCategoryTree,
  upsertOpportunity,
  getRecord,
  find,
  briefPipeline,
  pipelineChanges,
  briefCompany,
  briefQuote,
  briefQuotes,
  priceProduct,
  checkSalesData,
  listEvents,
  listChanges,
  revertChange,
  answerChange,
  pipelineDeals,
];
