import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { emptySearch, listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listOutput, readOnlyHints, searchInput } from '../src/tool-kit/define-tool.ts';

export const listQuotes = defineTool({
  name: 'cpq_list_quotes',
  title: 'List quotes',
  description:
    'Quotes with status, company, validity and totals summed from their items. Filter e.g. company.id:<id>,status:sent. cpq_brief_quote checks one.',
  toolset: 'routes',
  needs: ['quote:read'],
  hints: readOnlyHints,
  input: z.strictObject(searchInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('quote', args, call);
    return listAnswer('quote', 'quotes', page, args, {
      empty: emptySearch(wording`cpq_find knows quote numbers`),
    });
  },
});
