import * as z from 'zod';
import { wording } from '../src/outside-text.ts';
import { listAnswer } from './answers.ts';
import { defineTool, listed, listOutput, reads } from './define.ts';

export const listCategories = defineTool({
  name: 'cpq_list_categories',
  title: 'List categories',
  description:
    'Product categories as a flat list with their parents; for the hierarchy use cpq_get_category_tree.',
  toolset: 'routes',
  needs: ['category:read'],
  hints: reads,
  input: z.strictObject(listed),
  output: listOutput,
  async run(tenant, args, call) {
    const listed = await tenant.list('category', args, call);
    return listAnswer('category', 'categories', listed, args, {
      empty: wording`The tenant has no categories, or the key may not read them.`,
    });
  },
});
