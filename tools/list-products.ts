import * as z from 'zod';
import { emptySearch, listAnswer } from './answers.ts';
import { defineTool, listOutput, reads, searched } from './define.ts';

export const listProducts = defineTool({
  name: 'cpq_list_products',
  title: 'List products',
  description:
    'Catalogue products with manufacturer part number, price, cost, term and category; searched, filtered (e.g. productType:service) and sorted by the service, a page at a time. detail full adds every field and the values to filter by.',
  toolset: 'routes',
  needs: ['product:read'],
  hints: reads,
  input: z.strictObject({
    ...searched,
    include_bundles: z.boolean().optional().describe('Bundles too'),
  }),
  output: listOutput,
  async run(tenant, { include_bundles, ...args }, call) {
    const query =
      include_bundles === undefined ? args : { ...args, includeBundles: include_bundles };
    const listed = await tenant.list('product', query, call);
    return listAnswer('product', 'products', listed, args, {
      empty: emptySearch('cpq_find finds part numbers without their dashes and spaces'),
    });
  },
});
