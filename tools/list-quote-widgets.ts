import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listInput, listOutput, readOnlyHints } from '../src/tool-kit/define-tool.ts';

export const listQuoteWidgets = defineTool({
  name: 'cpq_list_quote_widgets',
  title: 'List quote widgets',
  description:
    'Quote widget templates: sections and layout blocks of quote templates. full adds their content.',
  toolset: 'routes',
  needs: ['quote_widget:read'],
  hints: readOnlyHints,
  input: z.strictObject(listInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('quote_widget', args, call);
    return listAnswer('quote_widget', 'quote widgets', page, args, {
      empty: wording`The tenant has no quote widget templates, or the key may not read them.`,
    });
  },
});
