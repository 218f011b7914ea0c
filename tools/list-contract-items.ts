import * as z from 'zod';
import { wording } from '../src/outside-text.ts';
import { listAnswer } from './answers.ts';
import { defineTool, listOutput, reads, textSearched } from './define.ts';

const beta = wording`Contract items are a beta resource of the service: fields may change or be missing.`;

export const listContractItems = defineTool({
  name: 'cpq_list_contract_items',
  title: 'List contract items (beta)',
  description:
    'What is under contract: service, vendor, term, quantity, revenue, profit. Beta: may change at any time, so say so.',
  toolset: 'routes',
  needs: ['contract_item:read'],
  hints: reads,
  input: z.strictObject(textSearched),
  output: listOutput,
  async run(tenant, args, call) {
    const listed = await tenant.list('contract_item', args, call);
    return listAnswer('contract_item', 'contract items', listed, args, {
      empty: wording`Nothing under contract matches; try without query.`,
      notes: [beta],
    });
  },
});
