import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { emptySearch, listAnswer } from '../src/tool-kit/answers.ts';
import { defineTool, listOutput, readOnlyHints, searchInput } from '../src/tool-kit/define-tool.ts';

export const listContacts = defineTool({
  name: 'cpq_list_contacts',
  title: 'List contacts',
  description:
    'People at companies, with e-mail, phone and company. Filter e.g. companyId:<id>. One marked deleted is no longer in use.',
  toolset: 'routes',
  needs: ['contact:read'],
  hints: readOnlyHints,
  input: z.strictObject(searchInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('contact', args, call);
    return listAnswer('contact', 'contacts', page, args, {
      empty: emptySearch(wording`cpq_find tolerates typing errors`),
    });
  },
});
