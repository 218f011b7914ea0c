import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listInput, listOutput, readOnlyHints } from '../src/tool-kit/define-tool.ts';

export const listDiscountGroups = defineTool({
  name: 'cpq_list_discount_groups',
  title: 'List discount groups',
  description:
    'Named discount policies with their discounts and how many companies they apply to. full adds which.',
  toolset: 'routes',
  needs: ['discount_group:read'],
  hints: readOnlyHints,
  input: z.strictObject(listInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('discount_group', args, call);
    return listAnswer('discount_group', 'discount groups', page, args, {
      empty: wording`The tenant has no discount groups, or the key may not read them.`,
    });
  },
});
