import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import { isSearchKind, type SearchKind } from '../names/search.ts';
import type { ToolCall } from '../tenant/call.ts';
import { readGrant } from '../tenant/grants.ts';
import { completeNames } from '../tenant/lookup.ts';
import { visible } from '../text/characters.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { exportTemplate } from '../tool-kit/resources.ts';
import { availablePrompts } from './prompts.ts';
import { readableTemplates } from './resources.ts';
import type { Access } from './surface.ts';
import { exportedTools, type Surface } from './surface.ts';
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
  if (ref.type === 'ref/resource' && ref.uri === exportTemplate.uriTemplate)
    return completion(exportValues(surface, argument));
  const kind = completedKind({ grants: tenant.grants, surface }, ref, argument.name);
  if (kind === undefined || !tenant.grants.has(readGrant(kind))) return completion([]);
  const names = await completeNames(tenant, kind, argument.value, call).catch(() => {
    call.signal.throwIfAborted();
    return [];
  });
  return completion(names, (name) => withoutSecrets(visible(name)));
}

const completion = (
  names: readonly string[],
  shown: (name: string) => string = (name) => name,
): CompleteResult => ({
  completion: {
    values: names.slice(0, maxValues).map(shown),
    total: names.length,
    hasMore: names.length > maxValues,
  },
});

/** The tools that can be exported, and the words that an argument of theirs takes. */
function exportValues(
  surface: Surface,
  { name, value }: CompleteRequest['params']['argument'],
): string[] {
  const tools = exportedTools(surface);
  const words = tools.flatMap((tool) => surface.find(tool)?.input.properties?.[name]?.enum ?? []);
  const all = name === 'tool' ? tools : [...new Set(words.map(String))];
  return all.filter((word) => word.includes(value.trim().toLowerCase()));
}

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
