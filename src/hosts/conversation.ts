import { Direct } from '../mcp/direct.ts';
import {
  type Client,
  type Era,
  isRow,
  type PlainRequest,
  plainRequest,
  type Row,
} from '../mcp/plain.ts';
import type { Served } from './served.ts';
import type { SdkConnection } from './stdio-sdk.ts';

export interface Ways {
  write(line: string): void;
  onError(error: Error): void;
  /** The connection is over, by decision of this side. */
  onClose(): void;
}

/** How the host opened the connection, as far as it has. */
interface Opening {
  era: Era;
  /** What the SDK is shown of it, should it have to take over. */
  shown: Row[];
  /** The newer era may still be left after the question what the server can do. */
  settled: boolean;
  client?: Client | undefined;
}

/** Of a request that only settles the era: nobody waits for its answer. */
const settlingId = 'cpq-mcp-settles';

/**
 * One connection over lines. Plain requests are answered here; at the first of another kind the SDK is
 * loaded, shown how the connection was opened, and has everything that is not plain from then on. A
 * connection that was not opened plainly is the SDK's from the start.
 */
export class Conversation {
  readonly #served: Served;
  readonly #ways: Ways;
  readonly #direct: Direct;
  readonly #calls = new Map<unknown, AbortController>();
  readonly #answering = new Set<Promise<void>>();
  #handedOver: Promise<void> = Promise.resolve();
  #opening: Opening | undefined;
  #isPlain = true;
  #sdk: Promise<SdkConnection> | undefined;

  constructor(served: Served, ways: Ways) {
    this.#served = served;
    this.#ways = ways;
    this.#direct = new Direct(served.parts, { lasts: true });
  }

  take(line: string): void {
    const message = parsed(line);
    if (this.#cancels(message)) return;
    const plain = this.#isPlain ? plainRequest(message) : undefined;
    if (plain && this.#fits(plain) && this.#direct.takes(plain)) {
      this.#open(plain, message as Row);
      this.#track(this.#answer(plain));
    } else if (this.#needsSdk(message)) this.#handOver(line, message);
  }

  /** Resolves once everything that was taken has been answered or cancelled. */
  async answered(): Promise<void> {
    await Promise.allSettled(this.#answering);
    await this.#handedOver;
    await (await this.#sdk)?.answered();
  }

  async close(): Promise<void> {
    this.#isPlain = false;
    for (const call of this.#calls.values()) call.abort(new Error('the connection ended'));
    await (await this.#sdk)?.close();
  }

  #track(answering: Promise<void>): void {
    this.#answering.add(answering);
    void answering.finally(() => this.#answering.delete(answering));
  }

  /** Whether it belongs to the connection as it was opened, or opens it. */
  #fits({ method, era }: PlainRequest): boolean {
    const opens = method === 'initialize' || method === 'server/discover';
    if (!this.#opening) return opens;
    return era === this.#opening.era && method !== 'initialize';
  }

  #open({ method, era, client, params }: PlainRequest, message: Row): void {
    if (!this.#opening) {
      const info = era === 'legacy' ? (params.clientInfo as Client) : client;
      this.#opening = { era, shown: [message], settled: era === 'legacy', client: info };
    } else if (!this.#opening.settled && method !== 'server/discover') {
      const { _meta } = params;
      const settling = { jsonrpc: '2.0', id: settlingId, method: 'tools/list', params: { _meta } };
      this.#opening.shown.push(settling);
      this.#opening.settled = true;
    }
  }

  async #answer(request: PlainRequest): Promise<void> {
    const call = new AbortController();
    this.#calls.set(request.id, call);
    const notify = (method: string, params: Row) =>
      this.#ways.write(JSON.stringify({ method, params, jsonrpc: '2.0' }));
    try {
      const answering = { signal: call.signal, client: this.#opening?.client, notify };
      const answer = await this.#direct.answer(request, answering);
      if (!call.signal.aborted) this.#ways.write(answer);
    } catch (error) {
      // A call that was cancelled is not answered.
      if (!call.signal.aborted) this.#ways.onError(error as Error);
    } finally {
      if (this.#calls.get(request.id) === call) this.#calls.delete(request.id);
    }
  }

  #cancels(message: unknown): boolean {
    if (!isRow(message) || message.method !== 'notifications/cancelled') return false;
    const id = isRow(message.params) ? message.params.requestId : undefined;
    const call = this.#calls.get(id);
    call?.abort(new Error('cancelled by the host'));
    return call !== undefined;
  }

  /** Once the era is settled, notifications tell the SDK nothing as long as it has nothing to do. */
  #needsSdk(message: unknown): boolean {
    if (this.#sdk || !this.#opening) return true;
    const isNotification = isRow(message) && !('id' in message);
    return message !== undefined && !(isNotification && this.#opening.settled);
  }

  #handOver(line: string, message: unknown): void {
    const method = isRow(message) ? message.method : undefined;
    const reopens = method === 'initialize' || method === 'server/discover';
    if (reopens || !this.#opening?.settled) this.#isPlain = false;
    this.#sdk ??= this.#connect();
    this.#handedOver = this.#sdk.then((sdk) => sdk.take(line)).catch(this.#ways.onError);
  }

  async #connect(): Promise<SdkConnection> {
    const { connectSdk } = await import('./stdio-sdk.ts');
    return connectSdk(this.#served.server, {
      opening: this.#opening?.shown ?? [],
      write: (message) => this.#ways.write(JSON.stringify(message)),
      onError: this.#ways.onError,
      onClose: this.#ways.onClose,
    });
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
