import * as z from 'zod';
import { wording } from '../src/outside-text.ts';
import { listAnswer } from './answers.ts';
import { defineTool, listed, listOutput, reads } from './define.ts';

export const listPricingBooks = defineTool({
  name: 'cpq_list_pricing_books',
  title: 'List pricing books',
  description:
    'Special prices: validity, special-bid number, how many products and companies. full adds the price of each product.',
  toolset: 'routes',
  needs: ['pricing_book:read'],
  hints: reads,
  input: z.strictObject(listed),
  output: listOutput,
  async run(tenant, args, call) {
    const listed = await tenant.list('pricing_book', args, call);
    return listAnswer('pricing_book', 'pricing books', listed, args, {
      empty: wording`The tenant has no pricing books, or the key may not read them.`,
    });
  },
});
