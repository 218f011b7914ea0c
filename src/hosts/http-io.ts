import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { HttpError } from './access/http-error.ts';

const maxBytes = 1024 * 1024;

/** The body of a request, which is not destroyed: an error is sent over the same connection. @throws as `readChunks` */
export const readBody = (request: IncomingMessage): Promise<Buffer> =>
  readChunks(request.headers, request.iterator({ destroyOnReturn: false }));

/** @throws HttpError for a body that is too large (413) or compressed (415), by its headers */
export function requireReadable(headers: IncomingHttpHeaders): void {
  const { 'content-length': length = '0', 'content-encoding': encoding = 'identity' } = headers;
  if (encoding !== 'identity') throw new HttpError(415, 'The body must not be compressed.');
  if (Number(length) > maxBytes) throw tooLarge();
}

/** @throws HttpError for a body that is too large (413) or compressed (415); Error when the sender disconnects */
export async function readChunks(
  headers: IncomingHttpHeaders,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Buffer> {
  requireReadable(headers);
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    read.push(chunk);
  }
  return Buffer.concat(read);
}

const tooLarge = (): HttpError => new HttpError(413, `The body is larger than ${maxBytes} bytes.`);

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendText(response, status, JSON.stringify(body), headers);
}

/** Sends a serialized JSON body, or an empty one. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed) return; // The sender has disconnected.
  if (text === '') {
    response.writeHead(status, headers).end();
    return;
  }
  // As a buffer: Node would concatenate a string with the headers and measure it first.
  const bytes = Buffer.from(text);
  response
    .writeHead(status, {
      ...headers,
      'content-type': 'application/json',
      'content-length': bytes.length,
    })
    .end(bytes);
}

/** Sends an error. Closes the connection if the body was not read, since its rest would be parsed as a request. */
export function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message, headers }: HttpError,
): void {
  const close = request.complete ? {} : { connection: 'close' };
  sendJson(response, status, { error: message }, { ...headers, ...close });
}

/** The name in `name` or `name:port`, compared as text: a URL parser would find `localhost` in `evil.com@localhost`. */
export const hostName = (address: string): string =>
  address.toLowerCase().replace(/:(\d{1,5})$/, (all, port) => (Number(port) <= 65_535 ? '' : all));
