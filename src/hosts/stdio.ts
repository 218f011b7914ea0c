import { callMs } from '../service/call.ts';
import type { LineEndpoint } from './endpoint.ts';
import { LineConnection, type LineConnectionOptions } from './line-connection.ts';
import { readLines } from './lines.ts';

/** Maximum size of one message. */
const maxBytes = 10 * 1024 * 1024;
/** Time to finish calls after stdin has ended; no call takes longer. */
const finishMs = callMs + 1_000;

/**
 * Serves one client over stdin and stdout. When stdin ends, received requests are answered first; on SIGTERM
 * or SIGINT it stops at once. Everything but protocol messages goes to stderr.
 */
export function serveStdio(
  endpoint: LineEndpoint,
  { fastPath, onError }: Pick<LineConnectionOptions, 'fastPath' | 'onError'>,
): Promise<void> {
  return new Promise((resolve) => {
    const connection = new LineConnection(endpoint, {
      fastPath,
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
      (line) => connection.receive(line),
      tooLong,
    );
    let stopped = false;
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      if (stopped) return;
      stopped = true;
      clearTimeout(timer);
      endReading();
      connection.close().then(resolve, resolve);
    };
    const finish = () => {
      timer ??= setTimeout(stop, finishMs);
      connection.answered().then(stop, stop);
    };
    process.stdin.once('end', finish);
    process.stdin.once('close', finish);
    // The host has closed its end.
    process.stdout.on('error', stop);
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
  });
}
