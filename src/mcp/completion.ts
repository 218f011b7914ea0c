import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import { isSearched, type SearchedKind } from '../briefs/search.ts';
import { visible } from '../outside-text.ts';
import type { ToolCall } from '../tenant/call.ts';
import { namesLike } from '../tenant/find.ts';
import { readGrant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { offered } from './prompts.ts';
import { readable } from './resources.ts';

/** The protocol's own limit. */
const most = 100;

/**
 * Completes what a person types with names that lead to one record. A completion is a convenience: where
 * nothing can be read, there is nothing to offer.
 */
export async function complete(
  tenant: Tenant,
  { ref, argument }: CompleteRequest['params'],
  call: ToolCall,
): Promise<CompleteResult> {
  const kind = kindOf(tenant, ref, argument.name);
  if (kind === undefined || !tenant.grants.has(readGrant(kind))) return none;
  const names = await namesLike(tenant, kind, argument.value, call).catch(() => {
    call.signal.throwIfAborted();
    return [];
  });
  const values = names.slice(0, most).map((name) => tenant.client.withoutKey(visible(name)));
  return { completion: { values, total: names.length, hasMore: names.length > most } };
}

const none: CompleteResult = { completion: { values: [], total: 0, hasMore: false } };

function kindOf(
  tenant: Tenant,
  ref: CompleteRequest['params']['ref'],
  argument: string,
): SearchedKind | undefined {
  if (ref.type === 'ref/prompt') {
    const prompt = offered(tenant).find(({ name }) => name === ref.name);
    return prompt?.arguments.find(({ name }) => name === argument)?.completes;
  }
  const template = readable(tenant).find(({ uriTemplate }) => uriTemplate === ref.uri);
  const kind = template?.resource;
  return argument === 'id' && kind !== undefined && isSearched(kind) ? kind : undefined;
}
