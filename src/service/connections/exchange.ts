import type { Dispatcher, Pool } from 'undici';
import { toError } from '../../values.ts';

export type RequestOptions = Dispatcher.DispatchOptions;

/** A response, its body not yet decompressed. */
export interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * One request, sent by `start`, and its response. undici's `request` returns a stream instead, which doubles the
 * cost of a small response and is not needed here.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** @throws undici's error, or the reason passed to `stop` */
  readonly received: Promise<Received>;
  #resolve: (received: Received) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #stopped: { reason: unknown } | undefined;
  #head: Omit<Received, 'body'> | undefined;
  readonly #chunks: Buffer[] = [];
  readonly #request: RequestOptions;

  constructor(request: RequestOptions) {
    this.#request = request;
    this.received = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  start(pool: Pool): void {
    pool.dispatch(this.#request, this);
  }

  /** Aborts the request and closes its socket. A request that is not sent yet is never sent. */
  stop(reason: unknown): void {
    this.#stopped = { reason };
    this.#reject(reason);
    this.#controller?.abort(toError(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(toError(this.#stopped.reason));
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Received['headers'],
  ): void {
    // Informational responses (1xx) precede the final one.
    if (status >= 200) this.#head = { status, headers };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [only] = this.#chunks;
    const body = only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    if (this.#head) this.#resolve({ ...this.#head, body });
    else this.#reject(new Error('response without a status line'));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}
