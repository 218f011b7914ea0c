import type { Dispatcher, Pool } from 'undici';

/** What came back, still packed as it was sent. */
export interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * One request on its way, and what comes back, collected. undici's own `onHttpRequest` makes a stream of it,
 * which costs as much as everything else of a small answer; nobody here reads one in parts.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** @throws undici's error, or what it was stopped with */
  readonly received: Promise<Received>;
  #resolve: (received: Received) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #controller: Dispatcher.DispatchController | undefined;
  #stopped: { reason: unknown } | undefined;
  #head: Omit<Received, 'body'> | undefined;
  readonly #chunks: Buffer[] = [];

  constructor(pool: Pool, request: Dispatcher.DispatchOptions) {
    this.received = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    pool.dispatch(request, this);
  }

  /** Ends it at once, its socket included; one that has not left yet will not. */
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
    // Below 200 it only says that there is more to come.
    if (status >= 200) this.#head = { status, headers };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [only] = this.#chunks;
    const body = only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks);
    if (this.#head) this.#resolve({ ...this.#head, body });
    else this.#reject(new Error('an answer without a head'));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}

const toError = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error(String(reason));
