import type { ServerResponse } from 'node:http';
import { readView, viewNames, withFacts } from '../views/views.ts';

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

/** Serves the page of the preview, or a view in one of its frames. @returns whether the path is one of them */
export async function servePreview(path: string, response: ServerResponse): Promise<boolean> {
  const view = viewNames.find((name) => path === `/preview/${name}.html`);
  const page = path === '/preview' ? 'preview' : view;
  if (page === undefined) return false;
  const html = withFacts(await readView(page), { tools, isMadeUp: true });
  response.writeHead(200, headers).end(html);
  return true;
}
