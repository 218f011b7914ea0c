import * as z from 'zod';
import { wording } from '../src/text/untrusted-text.ts';
import { listAnswer } from '../src/tool-kit/answers.ts';
import {
  defineTool,
  listOutput,
  readOnlyHints,
  textSearchInput,
} from '../src/tool-kit/define-tool.ts';

const beta = wording`Contract items are a beta resource of the service: fields may change or be missing.`;

export const listContractItems = defineTool({
  name: 'cpq_list_contract_items',
  title: 'List contract items (beta)',
  description:
    'What is under contract: service, vendor, term, quantity, revenue, profit. Beta: may change at any time, so say so.',
  toolset: 'routes',
  needs: ['contract_item:read'],
  hints: readOnlyHints,
  input: z.strictObject(textSearchInput),
  output: listOutput,
  async run(tenant, args, call) {
    const page = await tenant.list('contract_item', args, call);
    return listAnswer('contract_item', 'contract items', page, args, {
      empty: wording`Nothing under contract matches; try without query.`,
      notes: [beta],
    });
  },
});
