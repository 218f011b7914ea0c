import { callMs } from '../service/call.ts';
import type { LineEndpoint } from './endpoint.ts';
import { LineConnection, type LineConnectionOptions } from './line-connection.ts';

/** Maximum length of one message. */
const maxLength = 10 * 1024 * 1024;
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
    const { stdin, stdout } = process;
    const connection = new LineConnection(endpoint, {
      fastPath,
      write: (line) => void stdout.write(`${line}\n`),
      onError,
      onClose: () => stop(),
    });
    let begun = '';
    const read = (text: string) => {
      const end = text.lastIndexOf('\n');
      if (end >= 0) {
        const lines = `${begun}${text.slice(0, end)}`.split('\n');
        begun = '';
        for (const line of lines) connection.receive(line);
      }
      begun += text.slice(end + 1);
      if (begun.length <= maxLength) return;
      onError(new Error(`a message of more than ${maxLength} characters`));
      stop();
    };
    let stopped = false;
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      if (stopped) return;
      stopped = true;
      clearTimeout(timer);
      stdin.off('data', read).pause();
      connection.close().then(resolve, resolve);
    };
    const finish = () => {
      if (timer || stopped) return;
      timer = setTimeout(stop, finishMs);
      if (begun !== '') connection.receive(begun);
      connection.answered().then(stop, stop);
    };
    stdin.setEncoding('utf8').on('data', read);
    stdin.once('end', finish);
    stdin.once('close', finish);
    // The host has closed its end.
    stdout.on('error', stop);
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
  });
}
