import { ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import type { Running } from './process.ts';
import type { Recording } from './recording.ts';

/** The client's transport for a process that was already started and whose output is recorded. */
export function pipesOf(running: Running): Transport {
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      running.output.follow('stdout', (bytes) => {
        buffer.append(bytes);
        readAll(buffer, transport);
      });
      void running.exited.then(() => transport.onclose?.());
    },
    async send(message) {
      running.stdin.write(serializeMessage(message));
    },
    async close() {
      await running.stop();
    },
  };
  return transport;
}

function readAll(buffer: ReadBuffer, transport: Transport): void {
  try {
    for (let message = buffer.readMessage(); message; message = buffer.readMessage()) {
      transport.onmessage?.(message);
    }
  } catch (error) {
    transport.onerror?.(error as Error);
    readAll(buffer, transport); // As the clients of the SDKs do.
  }
}

/** `fetch` that records the answer while it is read. */
export const recordingFetch =
  (recording: Recording): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const head = [...response.headers].map(([name, value]) => `${name}: ${value}\n`).join('');
    recording.add('http', Buffer.from(`\n${response.status}\n${head}\n`));
    const retryable = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        recording.add('http', bytes);
        controller.enqueue(bytes);
      },
    });
    return new Response(response.body?.pipeThrough(retryable) ?? null, response);
  };
