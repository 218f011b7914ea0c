import * as z from 'zod';
import { listRecords } from '../src/lists/list-records.ts';
import { wording } from '../src/text/untrusted-text.ts';
import { defineTool, listOutput, readOnlyHints, searchInput } from '../src/tool-kit/define-tool.ts';
import { emptySearch, listAnswer } from '../src/tool-kit/list-answers.ts';

export const listProducts = defineTool({
  name: 'cpq_list_products',
  title: 'List products',
  description:
    'Catalogue products with part number, price, cost, term and category. Keys: manufacturer, category, productType, term, price, listed. detail full adds the values to filter by.',
  toolset: 'routes',
  needs: ['product:read'],
  hints: readOnlyHints,
  input: z.strictObject({
    ...searchInput,
    include_bundles: z.boolean().optional().describe('Bundles too'),
  }),
  output: listOutput,
  async run(tenant, { include_bundles, ...args }, call) {
    const includeBundles = include_bundles ?? (asksForBundles(args.filters) || undefined);
    const query = includeBundles === undefined ? args : { ...args, includeBundles };
    const page = await listRecords(tenant, 'product', query, call);
    return listAnswer('product', page, args, {
      empty: emptySearch(wording`cpq_find finds part numbers without their dashes and spaces`),
    });
  },
});

/** A filter for bundles would find none of them otherwise. */
const asksForBundles = (filters = ''): boolean =>
  filters
    .toLowerCase()
    .split(',')
    .some((filter) => filter.includes('producttype:') && filter.includes('bundle'));
