import { EventEmitter, once } from 'node:events';

export type Stream = 'stdout' | 'stderr' | 'http';

/** The output of a server, to be searched for secrets. */
export class Recording {
  readonly #name: string;
  readonly #secrets: string[];
  readonly #bytes: Record<Stream, Buffer[]> = { stdout: [], stderr: [], http: [] };
  readonly #arrived = new EventEmitter().setMaxListeners(0);

  constructor(name: string, secrets: readonly string[] = []) {
    this.#name = name;
    this.#secrets = [...secrets];
  }

  add(stream: Stream, bytes: Uint8Array): void {
    const copy = Buffer.from(bytes);
    this.#bytes[stream].push(copy);
    this.#arrived.emit(stream, copy);
  }

  /** Calls the listener with every chunk from now on. */
  follow(stream: Stream, listener: (bytes: Buffer) => void): void {
    this.#arrived.on(stream, listener);
  }

  /** Adds a text that must not occur in it, such as the key in a file. */
  guard(secret: string): void {
    this.#secrets.push(secret);
  }

  raw(stream: Stream): Buffer {
    return Buffer.concat(this.#bytes[stream]);
  }

  get stdout(): string {
    return this.raw('stdout').toString('utf8');
  }

  get stderr(): string {
    return this.raw('stderr').toString('utf8');
  }

  /** Bodies and headers of the HTTP answers that the clients of this server received. */
  get http(): string {
    return this.raw('http').toString('utf8');
  }

  /** All output, one stream after the other. */
  get everything(): string {
    return this.stdout + this.stderr + this.http;
  }

  /** The places where a secret occurs. */
  leaks(): string[] {
    const streams: Stream[] = ['stdout', 'stderr', 'http'];
    return streams
      .filter((stream) => this.#secrets.some((secret) => this.raw(stream).includes(secret)))
      .map((stream) => `${stream} of "cpq-mcp ${this.#name}"`);
  }

  /** The first match, or undefined if the signal is aborted first. */
  async waitFor(
    stream: Stream,
    pattern: RegExp,
    signal: AbortSignal,
  ): Promise<RegExpExecArray | undefined> {
    for (;;) {
      const found = pattern.exec(this.raw(stream).toString('utf8'));
      if (found) return found;
      if (signal.aborted) return undefined;
      await once(this.#arrived, stream, { signal }).catch(() => {});
    }
  }
}
