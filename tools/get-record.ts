import * as z from 'zod';
import { ApiError, isApiError } from '../src/api/errors.ts';
import type { ApiRecord, Resource } from '../src/api/records.ts';
import { routes } from '../src/api/routes.ts';
import { full, only } from '../src/briefs/concise.ts';
import type { ToolCall } from '../src/tenant/call.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { defineTool, reads, said } from './define.ts';

const kinds = [
  'company',
  'contact',
  'opportunity',
  'product',
  'quote',
  'quote_template',
  'quote_widget',
  'pricing_book',
  'category',
  'discount_group',
  'contract_item',
] as const satisfies readonly Resource[];

export const getRecord = defineTool({
  name: 'cpq_get_record',
  title: 'Get one record',
  description:
    'One record whole, with line items and nested records. Companies, contacts and products also by external identifier.',
  toolset: 'briefs',
  needs: [],
  hints: reads,
  input: z.strictObject({
    resource: z.enum(kinds),
    id: z.string().min(1).max(200).describe('Id or external identifier'),
    fields: z.array(z.string()).optional().describe('Only these'),
  }),
  output: z.looseObject({
    ...said,
    resource: z.string(),
    record: z.record(z.string(), z.unknown()),
  }),
  async run(tenant, { resource, id, fields }, call) {
    const record = await read(tenant, resource, id, call);
    const name = record.name ?? record.title ?? record.number ?? id;
    return {
      summary: `${resource.replaceAll('_', ' ')} ${String(name)}, whole.`,
      data: { resource, record: fields?.length ? only(record, fields) : full(record) },
      notes: resource === 'contract_item' ? ['Beta: fields may change or be missing.'] : [],
    };
  },
});

/** By id; where there is no such id, by external identifier; where neither has a route, from the whole list. */
async function read(
  tenant: Tenant,
  resource: Resource,
  id: string,
  call: ToolCall,
): Promise<ApiRecord> {
  const ways = routes[resource].one;
  if (ways.length === 0) return fromList(tenant, resource, id, call);
  return tenant.one(resource, 'id', id, call).catch((error: unknown) => {
    if (!isApiError(error, 'not-found') || !ways.includes('externalIdentifier')) throw error;
    return tenant.one(resource, 'externalIdentifier', id, call);
  });
}

async function fromList(
  tenant: Tenant,
  resource: Resource,
  id: string,
  call: ToolCall,
): Promise<ApiRecord> {
  const { records } = await tenant.collection(resource, call);
  const record = (records as readonly ApiRecord[]).find((one) => one.id === id);
  if (!record) throw new ApiError('not-found', { host: tenant.host }, 'not in the list');
  return record;
}
