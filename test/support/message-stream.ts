import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

const data = 'data: ';

/** The messages of a JSON answer, or of an event stream, as they arrive. */
export async function* messagesOf({ body }: Response): AsyncGenerator<Record<string, unknown>> {
  if (!body) return;
  const input = Readable.fromWeb(body as ReadableStream);
  for await (const line of createInterface({ input })) {
    const text = line.startsWith(data) ? line.slice(data.length) : line;
    if (text.startsWith('{')) yield JSON.parse(text);
  }
}
