import * as z from 'zod';
import { contactName, quoteName } from '../src/figures/naming.ts';
import { deletionOf } from '../src/figures/outcome.ts';
import { readByIdentifier } from '../src/lists/by-identifier.ts';
import { rowOf, showsCurrency } from '../src/lists/concise.ts';
import { knownFor, nameShownProducts, readForColumns } from '../src/lists/known.ts';
import type { ApiRecord } from '../src/service/records/records.ts';
import { resources } from '../src/service/routes.ts';
import { quote, trusted, wording } from '../src/text/untrusted-text.ts';
import { missingFields } from '../src/tool-kit/answers.ts';
import { defineTool } from '../src/tool-kit/define-tool.ts';
import { deletedWords, linkTo } from '../src/tool-kit/one-record.ts';
import { fieldOf } from '../src/values.ts';

const kinds = resources.filter((each) => each !== 'category_tree');

export const getRecord = defineTool({
  name: 'cpq_get_record',
  title: 'Get one record',
  description: 'One record whole, with line items and nested records; says first if it is deleted.',
  toolset: 'briefs',
  needs: [],
  input: z.strictObject({
    resource: z.enum(kinds),
    id: z.string().min(1).max(200).describe('Id, external identifier, quote or part number'),
    fields: z.array(z.string()).optional().describe('Only these'),
  }),
  output: { resource: z.string(), record: z.record(z.string(), z.unknown()) },
  async run(tenant, { resource, id, fields }, call) {
    const found: ApiRecord = await readByIdentifier(tenant, resource, id, call);
    const shape = { detail: 'full', fields } as const;
    const [record = found] = await nameShownProducts(tenant, resource, [found], shape, call);
    const missing = missingFields(resource, [record], fields);
    const isWhole = !fields?.length;
    if (!isWhole) await readForColumns(tenant, resource, fields, call);
    const known = await knownFor(tenant, resource, [record], call);
    const row = rowOf(resource, record, shape, known);
    const name = contactName(record) ?? quoteName(record) ?? fieldOf(record, 'service') ?? id;
    return {
      summary: wording`${deletedWords(deletionOf(record))}${trusted(resource.replaceAll('_', ' '))} ${quote(String(name))}${isWhole && ', all fields'}.`,
      data: { resource, ...linkTo(tenant.site, resource, record.id), record: row },
      asStored: isWhole,
      unknownCurrencies: showsCurrency(resource, fields) && row.currency === undefined ? 1 : 0,
      notes: [
        ...missing,
        // The name of a person is in the deals that the person owns, which one record is no reason to read.
        isWhole &&
          resource === 'company' &&
          fieldOf(record, 'accountManagerId') !== undefined &&
          tenant.grants.has('opportunity:read') &&
          !tenant.cached('opportunity') &&
          wording`The name of the account manager was not read: fields accountManager reads it.`,
        resource === 'contract_item' && wording`Beta: fields may change or be missing.`,
      ],
    };
  },
});
