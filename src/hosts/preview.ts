import type { ServerResponse } from 'node:http';
import { readView, viewNames, withFacts } from '../views/views.ts';

/** Paths of the preview page and of the views in its frames. */
const previewFiles = new Map([
  ['/preview', 'preview' as const],
  ...viewNames.map((name) => [`/preview/${name}.html`, name] as const),
]);

/** The preview is served with the embedded tenant only, which receives no webhooks; it may be asked for changes. */
const tools = [
  'cpq_pipeline_changes',
  'cpq_brief_quotes',
  'cpq_check_sales_data',
  'cpq_upsert_opportunity',
];

/** Directives that only work in a header; the pages contain the rest of the policy. */
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "frame-ancestors 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** Serves a page of the preview. @returns whether the path is one of them */
export async function servePreview(
  path: string | undefined,
  response: ServerResponse,
): Promise<boolean> {
  const page = previewFiles.get(path ?? '');
  if (page === undefined) return false;
  const html = withFacts(await readView(page), { tools, isMadeUp: true });
  response.writeHead(200, headers).end(html);
  return true;
}
