import type { ServerResponse } from 'node:http';
import { readView, viewNames } from '../views/views.ts';

/** Addresses of the preview: the page itself, and each view to be framed by it. */
const previewFiles = new Map([
  ['/preview', 'preview' as const],
  ...viewNames.map((name) => [`/preview/${name}.html`, name] as const),
]);

/** The pages bring their own policy; what only a header can say is said here. */
const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "frame-ancestors 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

/** Serves a page of the preview. @returns whether the address was one of them */
export async function servePreview(
  path: string | undefined,
  response: ServerResponse,
): Promise<boolean> {
  const page = previewFiles.get(path ?? '');
  if (page === undefined) return false;
  const html = await readView(page);
  response.writeHead(200, headers).end(html);
  return true;
}
