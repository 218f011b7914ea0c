import { parseLine } from './json-lines.ts';
import type { Journal } from './port.ts';
import type { RedisLink } from './redis-link.ts';
import { listReply } from './redis-replies.ts';

const batchSize = 1_000;

/** A journal in a Redis stream, which is never trimmed and never expires. */
export class RedisJournal implements Journal {
  readonly #link: RedisLink;
  readonly #key: string;

  constructor(link: RedisLink, key: string) {
    this.#link = link;
    this.#key = key;
  }

  async append(entry: Record<string, unknown>): Promise<void> {
    await this.#link.send(['XADD', this.#key, '*', 'entry', JSON.stringify(entry)]);
  }

  async read(): Promise<{ entries: Record<string, unknown>[]; damaged: number }> {
    const entries: Record<string, unknown>[] = [];
    let damaged = 0;
    for (let after = '-'; ; ) {
      const batch = await this.#after(after);
      for (const { line } of batch) {
        const entry = parseLine(line);
        if (entry) entries.push(entry);
        else damaged += 1;
      }
      const last = batch.at(-1);
      if (!last || batch.length < batchSize) return { entries, damaged };
      after = `(${last.id}`;
    }
  }

  async #after(start: string): Promise<{ id: string; line: string }[]> {
    const words = ['XRANGE', this.#key, start, '+', 'COUNT', String(batchSize)];
    return listReply(await this.#link.send(words)).map((entry) => {
      const [id, fields] = listReply(entry);
      return { id: String(id), line: String(listReply(fields)[1] ?? '') };
    });
  }
}
