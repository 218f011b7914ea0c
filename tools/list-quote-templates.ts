import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listInput, listOutput, readOnlyHints } from '../src/tool-kit/define-tool.ts';

export const listQuoteTemplates = defineTool({
  name: 'cpq_list_quote_templates',
  title: 'List quote templates',
  description:
    'Reusable proposal structures and the widgets they are made of. full adds styling, localisation and payment terms.',
  toolset: 'routes',
  needs: ['quote_template:read'],
  hints: readOnlyHints,
  input: z.strictObject(listInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('quote_template', args, call);
    return listAnswer('quote_template', 'quote templates', page, args, {
      empty: wording`The tenant has no quote templates, or the key may not read them.`,
    });
  },
});
