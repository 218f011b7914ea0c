import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { emptySearch, listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listOutput, readOnlyHints, searchInput } from '../src/tool-kit/define-tool.ts';

export const listProducts = defineTool({
  name: 'cpq_list_products',
  title: 'List products',
  description:
    'Catalogue products with part number, price, cost, term and category. Filter e.g. productType:service. detail full adds the values to filter by.',
  toolset: 'routes',
  needs: ['product:read'],
  hints: readOnlyHints,
  input: z.strictObject({
    ...searchInput,
    include_bundles: z.boolean().optional().describe('Bundles too'),
  }),
  output: listOutput,
  async run(tenant, { include_bundles, ...args }, call) {
    const query =
      include_bundles === undefined ? args : { ...args, includeBundles: include_bundles };
    const page = await tenant.list('product', query, call);
    return listAnswer('product', 'products', page, args, {
      empty: emptySearch(wording`cpq_find finds part numbers without their dashes and spaces`),
    });
  },
});
