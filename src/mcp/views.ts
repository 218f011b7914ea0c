import type { ReadResourceResult, Resource, Tool } from '@modelcontextprotocol/server';
import { readView, type ViewName, viewNames, viewTitles, withFacts } from '../views/views.ts';
import { viewMimeType } from './identity.ts';

const viewUri = (view: ViewName): string => `ui://cpq-mcp/${view}.html`;

/** Links a tool to its view. The tool also works without it, unless only the view calls it. */
export const viewMeta = (view: ViewName, forView = false) => ({
  ui: forView ? { visibility: ['app'] } : { resourceUri: viewUri(view) },
});

/** No domains: views communicate with their host only. */
const ui = { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true };

export const viewResources = (
  tools: readonly { _meta?: Record<string, unknown> | undefined }[],
): Resource[] => {
  const listedViews = JSON.stringify(tools.map(({ _meta }) => _meta?.ui));
  return viewNames
    .filter((view) => listedViews.includes(JSON.stringify(viewUri(view))))
    .map((view) => ({
      uri: viewUri(view),
      name: `${view}-view`,
      title: viewTitles[view],
      mimeType: viewMimeType,
      _meta: { ui },
    }));
};

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
