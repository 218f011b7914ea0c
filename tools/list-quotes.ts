import * as z from 'zod';
import { emptySearch, listAnswer } from './answers.ts';
import { defineTool, listOutput, reads, searched } from './define.ts';

export const listQuotes = defineTool({
  name: 'cpq_list_quotes',
  title: 'List quotes',
  description:
    'Quotes with status, company, validity and their totals (one-time, monthly, yearly) summed from the items; searched, filtered (e.g. company.id:<id>, status:sent) and sorted, a page at a time. detail full adds the line items; cpq_brief_quote checks one quote.',
  toolset: 'routes',
  needs: ['quote:read'],
  hints: reads,
  input: z.strictObject(searched),
  output: listOutput,
  async run(tenant, args, call) {
    const listed = await tenant.list('quote', args, call);
    return listAnswer('quote', 'quotes', listed, args, {
      empty: emptySearch('cpq_find knows quote numbers'),
    });
  },
});
