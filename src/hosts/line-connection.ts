import { ConnectionFastPath } from '../fast-path/connection.ts';
import { parseJson } from '../values.ts';
import type { LineEndpoint } from './endpoint.ts';
import type { SdkConnection } from './stdio-sdk.ts';

export interface LineConnectionOptions {
  /** Whether messages may be answered without the SDK. */
  fastPath: boolean;
  write(line: string): void;
  onError(error: Error): void;
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
  #lastReceived: Promise<void> = Promise.resolve();

  constructor(endpoint: LineEndpoint, options: LineConnectionOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#fastPath = options.fastPath ? new ConnectionFastPath(endpoint) : undefined;
  }

  receive(line: string): void {
    if (this.#fastPath?.tryAnswer(parseJson(line), this.#options)) return;
    this.#sdk ??= this.#connect();
    this.#lastReceived = this.#sdk.then((sdk) => sdk.receive(line)).catch(this.#options.onError);
  }

  /** Resolves when all received requests have been answered or cancelled. */
  async answered(): Promise<void> {
    await this.#fastPath?.answered();
    await this.#lastReceived;
    await (await this.#sdk)?.answered();
  }

  async close(): Promise<void> {
    this.#fastPath?.close();
    await (await this.#sdk)?.close();
  }

  async #connect(): Promise<SdkConnection> {
    const opening = this.#fastPath?.opening ?? [];
    const { connectSdk } = await import('./stdio-sdk.ts');
    const { onError, onClose } = this.#options;
    const write = (message: object) => this.#options.write(JSON.stringify(message));
    return connectSdk(this.#endpoint.server, { opening, write, onError, onClose });
  }
}
