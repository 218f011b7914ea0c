import { Conversation } from './conversation.ts';
import { readLines } from './lines.ts';
import type { Served } from './served.ts';

/** Of one message. */
const maxBytes = 10 * 1024 * 1024;

/**
 * Serves one person over stdin and stdout until stdin ends or the process is told to stop. Whatever is
 * not protocol goes to stderr.
 */
export function serveStdio(served: Served, onError: (error: Error) => void): Promise<void> {
  return new Promise((resolve) => {
    const conversation = new Conversation(served, {
      write: (line) => void process.stdout.write(`${line}\n`),
      onError,
      onClose: () => stop(),
    });
    const tooLong = () => {
      onError(new Error(`a message of more than ${maxBytes} bytes`));
      stop();
    };
    const endReading = readLines(
      process.stdin,
      maxBytes,
      (line) => conversation.take(line),
      tooLong,
    );
    let stopped = false;
    const stop = () => {
      if (stopped) return;
      stopped = true;
      endReading();
      conversation.close().then(resolve, resolve);
    };
    process.stdin.once('end', stop);
    process.stdin.once('close', stop);
    // The host is gone: there is nobody left to answer.
    process.stdout.on('error', stop);
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
  });
}
