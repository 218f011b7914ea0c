import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { type Connection, ConnectionFastPath } from '../fast-path/fast-path.ts';
import { refusalToListen } from '../mcp/identity.ts';
import { callMs } from '../service/call.ts';
import { fieldOf, isObject, parseJson, toError } from '../values.ts';
import type { LineEndpoint } from './endpoint.ts';
import type { SdkConnection } from './stdio-sdk.ts';

const maxLength = 10 * 1024 * 1024;
/** Time to finish calls after stdin has ended; no call takes longer. */
const finishMs = callMs + 1_000;

/**
 * Serves one client over stdin and stdout. When stdin ends, received requests are answered first; on SIGTERM
 * or SIGINT it stops at once. Everything but protocol messages goes to stderr.
 * @throws Error for a message that is too long: where the next one begins is then unknown
 */
export function serveStdio(
  endpoint: LineEndpoint,
  { fastPath, onError }: Pick<LineConnectionOptions, 'fastPath' | 'onError'>,
  { stdin, stdout, signals }: { stdin: Readable; stdout: Writable; signals: EventEmitter },
): Promise<void> {
  return new Promise((resolve, reject) => {
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
      if (begun.length > maxLength)
        close(new Error(`A message has more than ${maxLength} characters`));
    };
    let stopped = false;
    let timer: NodeJS.Timeout | undefined;
    const close = (error?: Error) => {
      if (stopped) return;
      stopped = true;
      clearTimeout(timer);
      stdin.off('data', read).pause();
      const settle = () => (error ? reject(error) : resolve());
      connection.close().then(settle, settle);
    };
    const stop = () => close();
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
    signals.once('SIGTERM', stop);
    signals.once('SIGINT', stop);
  });
}

export interface LineConnectionOptions extends Connection {
  /** Whether messages may be answered without the SDK. */
  fastPath: boolean;
  /** Called when this side ends the connection. */
  onClose(): void;
}

/** One connection of JSON lines, served by the fast path and the SDK. */
export class LineConnection {
  readonly #endpoint: LineEndpoint;
  readonly #options: LineConnectionOptions;
  readonly #fastPath: ConnectionFastPath | undefined;
  /** Loaded on first use. */
  #sdk: Promise<SdkConnection> | undefined;
  /** Ids of the requests that the SDK has not answered yet. */
  readonly #pending = new Set<unknown>();
  /** Ids of our requests that the host has not answered yet; each blocks one of its own. */
  readonly #asked = new Set<unknown>();
  #onAnswered: (() => void) | undefined;

  constructor(endpoint: LineEndpoint, options: LineConnectionOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    if (options.fastPath) this.#fastPath = new ConnectionFastPath(endpoint, options);
  }

  receive(line: string): void {
    if (line.trim() === '') return;
    const message = parseJson(line);
    if (message === undefined) {
      this.#refuse(-32700, 'Parse error: a line is not valid JSON');
      return;
    }
    if (this.#fastPath?.tryAnswer(message)) return;
    const refusal = refusalToListen(message);
    if (refusal) {
      this.#options.write(JSON.stringify(refusal));
      return;
    }
    this.#note(message);
    this.#sdk ??= this.#connect();
    this.#sdk
      .then((sdk) => sdk.receive(line))
      .catch((error: unknown) => {
        this.#settle(fieldOf(message, 'id'));
        if (toError(error).name === 'ZodError')
          this.#refuse(-32600, 'Invalid Request: a line is no message of JSON-RPC 2.0', message);
        else this.#options.onError(toError(error));
      });
  }

  /** An invalid answer is not answered: two sides could go on for ever. */
  #refuse(code: number, problem: string, message?: unknown): void {
    this.#options.onError(new Error(problem));
    if (isObject(message) && ('result' in message || 'error' in message)) return;
    const given = fieldOf(message, 'id');
    const id = typeof given === 'string' || Number.isInteger(given) ? given : null;
    this.#options.write(JSON.stringify({ jsonrpc: '2.0', error: { code, message: problem }, id }));
  }

  /** Resolves when nothing is left to answer, after input has ended. Requests that wait for the host do not count. */
  async answered(): Promise<void> {
    await this.#fastPath?.answered();
    return new Promise((resolve) => {
      this.#onAnswered = resolve;
      this.#settle(undefined);
    });
  }

  async close(): Promise<void> {
    this.#fastPath?.close();
    await (await this.#sdk)?.close();
  }

  #note(message: unknown): void {
    const [id, method] = [fieldOf(message, 'id'), fieldOf(message, 'method')];
    if (method === 'notifications/cancelled')
      this.#settle(fieldOf(fieldOf(message, 'params'), 'requestId'));
    else if (method === undefined) this.#asked.delete(id);
    else if (id !== undefined) this.#pending.add(id);
  }

  #settle(id: unknown): void {
    this.#pending.delete(id);
    if (this.#pending.size <= this.#asked.size) this.#onAnswered?.();
  }

  async #connect(): Promise<SdkConnection> {
    const opening = this.#fastPath?.opening ?? [];
    const { connectSdk } = await import('./stdio-sdk.ts');
    const { onError, onClose } = this.#options;
    const write = (message: object) => {
      this.#options.write(JSON.stringify(message));
      const id = fieldOf(message, 'id');
      if (!('method' in message)) this.#settle(id);
      else if (id !== undefined) {
        this.#asked.add(id);
        this.#settle(undefined);
      }
    };
    return connectSdk(this.#endpoint.server, { opening, write, onError, onClose });
  }
}
