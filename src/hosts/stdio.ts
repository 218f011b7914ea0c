import type { Server } from '@modelcontextprotocol/server';
import { serveStdio as serve } from '@modelcontextprotocol/server/stdio';

/**
 * Serves one person over stdin and stdout until stdin ends or the process is told to stop. Whatever is
 * not protocol goes to stderr.
 */
export function serveStdio(factory: () => Server, onError: (error: Error) => void): Promise<void> {
  return new Promise((resolve) => {
    const handle = serve(factory, { onerror: onError });
    const stop = () => {
      handle.close().then(resolve, resolve);
    };
    process.stdin.once('end', stop);
    process.stdin.once('close', stop);
    // The host is gone: there is nobody left to answer.
    process.stdout.once('error', stop);
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
  });
}
