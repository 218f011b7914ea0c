import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listInput, listOutput, readOnlyHints } from '../src/tool-kit/define-tool.ts';

export const listPricingBooks = defineTool({
  name: 'cpq_list_pricing_books',
  title: 'List pricing books',
  description:
    'Special prices: validity, special-bid number, how many products and companies. full adds the price of each product.',
  toolset: 'routes',
  needs: ['pricing_book:read'],
  hints: readOnlyHints,
  input: z.strictObject(listInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('pricing_book', args, call);
    return listAnswer('pricing_book', 'pricing books', page, args, {
      empty: wording`The tenant has no pricing books, or the key may not read them.`,
    });
  },
});
