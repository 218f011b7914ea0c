import { ConnectionFastPath } from '../fast-path/connection.ts';
import type { TenantEndpoint } from './endpoint.ts';
import { parseMessage } from './messages.ts';
import type { SdkConnection } from './stdio-sdk.ts';

export interface LineConnectionOptions {
  /** Whether messages may be answered without the SDK. */
  fastPath: boolean;
  write(line: string): void;
  onError(error: Error): void;
  /** The connection is over, by decision of this side. */
  onClose(): void;
}

/** One connection over lines: the fast path answers what it can, the SDK everything else. */
export class LineConnection {
  readonly #endpoint: TenantEndpoint;
  readonly #options: LineConnectionOptions;
  readonly #fastPath: ConnectionFastPath | undefined;
  /** Loaded when it is first needed. */
  #sdk: Promise<SdkConnection> | undefined;
  #lastTaken: Promise<void> = Promise.resolve();

  constructor(endpoint: TenantEndpoint, options: LineConnectionOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#fastPath = options.fastPath ? new ConnectionFastPath(endpoint.parts) : undefined;
  }

  receive(line: string): void {
    if (this.#fastPath?.tryAnswer(parseMessage(line), this.#options)) return;
    this.#sdk ??= this.#connect();
    this.#lastTaken = this.#sdk.then((sdk) => sdk.receive(line)).catch(this.#options.onError);
  }

  /** Resolves once everything that was taken has been answered or cancelled. */
  async answered(): Promise<void> {
    await this.#fastPath?.answered();
    await this.#lastTaken;
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
