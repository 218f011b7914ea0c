import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import { isSearchKind, type SearchKind } from '../names/search.ts';
import type { ToolCall } from '../tenant/call.ts';
import { readGrant } from '../tenant/grants.ts';
import { completeNames } from '../tenant/lookup.ts';
import { visible } from '../text/characters.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { availablePrompts } from './prompts.ts';
import { readableTemplates } from './resources.ts';
import type { Access } from './surface.ts';
import type { CallParts } from './tool-run.ts';

/** The protocol's own limit. */
const maxValues = 100;

/**
 * Completes typed text with names that resolve to one record. Read errors give an empty completion.
 */
export async function complete(
  { tenant, surface }: Pick<CallParts, 'tenant' | 'surface'>,
  { ref, argument }: CompleteRequest['params'],
  call: ToolCall,
): Promise<CompleteResult> {
  const kind = completedKind({ grants: tenant.grants, surface }, ref, argument.name);
  if (kind === undefined || !tenant.grants.has(readGrant(kind))) return completion([]);
  const names = await completeNames(tenant, kind, argument.value, call).catch(() => {
    call.signal.throwIfAborted();
    return [];
  });
  return completion(names);
}

const completion = (names: readonly string[]): CompleteResult => ({
  completion: {
    values: names.slice(0, maxValues).map((name) => withoutSecrets(visible(name))),
    total: names.length,
    hasMore: names.length > maxValues,
  },
});

function completedKind(
  access: Access,
  ref: CompleteRequest['params']['ref'],
  argument: string,
): SearchKind | undefined {
  if (ref.type === 'ref/prompt') {
    const prompt = availablePrompts(access).find(({ name }) => name === ref.name);
    return prompt?.arguments.find(({ name }) => name === argument)?.completes;
  }
  const template = readableTemplates(access).find(({ uriTemplate }) => uriTemplate === ref.uri);
  const kind = template?.resource;
  return argument === 'id' && kind !== undefined && isSearchKind(kind) ? kind : undefined;
}
