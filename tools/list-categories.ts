import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listInput, listOutput, readOnlyHints } from '../src/tool-kit/define-tool.ts';

export const listCategories = defineTool({
  name: 'cpq_list_categories',
  title: 'List categories',
  description:
    'Product categories as a flat list with their parents; for the hierarchy use cpq_get_category_tree.',
  toolset: 'routes',
  needs: ['category:read'],
  hints: readOnlyHints,
  input: z.strictObject(listInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('category', args, call);
    return listAnswer('category', 'categories', page, args, {
      empty: wording`The tenant has no categories, or the key may not read them.`,
    });
  },
});
