import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { emptySearch, listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listOutput, readOnlyHints, searchInput } from '../src/tool-kit/define-tool.ts';

export const listOpportunities = defineTool({
  name: 'cpq_list_opportunities',
  title: 'List opportunities',
  description:
    'Opportunities with company, stage, probability, revenue, expected close and owner. Filter e.g. company.id:<id>. For totals use cpq_brief_pipeline: never add up pages.',
  toolset: 'routes',
  needs: ['opportunity:read'],
  hints: readOnlyHints,
  input: z.strictObject(searchInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('opportunity', args, call);
    return listAnswer('opportunity', 'opportunities', page, args, {
      empty: emptySearch(wording`cpq_brief_pipeline shows which stages and owners there are`),
    });
  },
});
