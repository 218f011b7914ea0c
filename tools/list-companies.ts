import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { emptySearch, listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listOutput, readOnlyHints, searchInput } from '../src/tool-kit/define-tool.ts';

export const listCompanies = defineTool({
  name: 'cpq_list_companies',
  title: 'List companies',
  description:
    'Companies with type, currency, place and external identifier. For all about one account use cpq_brief_company.',
  toolset: 'routes',
  needs: ['company:read'],
  hints: readOnlyHints,
  input: z.strictObject(searchInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('company', args, call);
    return listAnswer('company', 'companies', page, args, {
      empty: emptySearch(wording`filters such as type:customer take the values as stored`),
    });
  },
});
