import * as z from 'zod';
import { wording } from '../src/outside-text.ts';
import { listAnswer } from './answers.ts';
import { defineTool, listed, listOutput, reads } from './define.ts';

export const listQuoteWidgets = defineTool({
  name: 'cpq_list_quote_widgets',
  title: 'List quote widgets',
  description:
    'Quote widget templates: sections and layout blocks of quote templates. full adds their content.',
  toolset: 'routes',
  needs: ['quote_widget:read'],
  hints: reads,
  input: z.strictObject(listed),
  output: listOutput,
  async run(tenant, args, call) {
    const listed = await tenant.list('quote_widget', args, call);
    return listAnswer('quote_widget', 'quote widgets', listed, args, {
      empty: wording`The tenant has no quote widget templates, or the key may not read them.`,
    });
  },
});
