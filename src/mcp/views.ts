import type { ReadResourceResult, Resource, Tool } from '@modelcontextprotocol/server';
import { fieldOf } from '../values.ts';
import { readView, type ViewName, viewNames, viewTitles, withFacts } from '../views/views.ts';
import { viewMimeType } from './identity.ts';

const viewUri = (view: ViewName): string => `ui://cpq-mcp/${view}.html`;

/** Links a tool to its view. The tool also works without it, unless only the view calls it. */
export const viewMeta = (view: ViewName, forView = false) => ({
  ui: forView ? { visibility: ['app'] } : { resourceUri: viewUri(view) },
});

/** No domains: views communicate with their host only. */
const ui = { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true };

export const viewResources = (tools: readonly Tool[]): Resource[] =>
  viewNames
    .filter((view) => tools.some(({ _meta }) => uriIn(_meta) === viewUri(view)))
    .map((view) => ({
      uri: viewUri(view),
      name: `${view}-view`,
      title: viewTitles[view],
      mimeType: viewMimeType,
      _meta: { ui },
    }));

const uriIn = (meta: Tool['_meta']): unknown => fieldOf(meta?.ui, 'resourceUri');

export const viewFromUri = (uri: string): ViewName | undefined =>
  viewNames.find((view) => viewUri(view) === uri);

/** @throws Error if the views were not built */
export async function readViewResource(
  view: ViewName,
  tools: readonly Tool[],
  isMadeUp = false,
): Promise<ReadResourceResult> {
  const names = tools.map(({ name }) => name);
  const text = withFacts(await readView(view), { tools: names, isMadeUp });
  return { contents: [{ uri: viewUri(view), mimeType: viewMimeType, text, _meta: { ui } }] };
}
