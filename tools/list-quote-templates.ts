import * as z from 'zod';
import { wording } from '../src/outside-text.ts';
import { listAnswer } from './answers.ts';
import { defineTool, listed, listOutput, reads } from './define.ts';

export const listQuoteTemplates = defineTool({
  name: 'cpq_list_quote_templates',
  title: 'List quote templates',
  description:
    'Reusable proposal structures and the widgets they are made of. full adds styling, localisation and payment terms.',
  toolset: 'routes',
  needs: ['quote_template:read'],
  hints: reads,
  input: z.strictObject(listed),
  output: listOutput,
  async run(tenant, args, call) {
    const listed = await tenant.list('quote_template', args, call);
    return listAnswer('quote_template', 'quote templates', listed, args, {
      empty: wording`The tenant has no quote templates, or the key may not read them.`,
    });
  },
});
