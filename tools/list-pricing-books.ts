import * as z from 'zod';
import { listAnswer } from './answers.ts';
import { defineTool, listed, listOutput, reads } from './define.ts';

export const listPricingBooks = defineTool({
  name: 'cpq_list_pricing_books',
  title: 'List pricing books',
  description:
    'Pricing books: special prices with a validity window, a special-bid number and the number of products and companies each covers. detail full, or fields products, adds the price and cost of each product.',
  toolset: 'routes',
  needs: ['pricing_book:read'],
  hints: reads,
  input: z.strictObject(listed),
  output: listOutput,
  async run(tenant, args, call) {
    const listed = await tenant.list('pricing_book', args, call);
    return listAnswer('pricing_book', 'pricing books', listed, args, {
      empty: 'The tenant has no pricing books, or the key may not read them.',
    });
  },
});
