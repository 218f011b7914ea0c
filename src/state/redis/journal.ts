import { parseLine } from '../files/json-files.ts';
import type { Journal } from '../port.ts';
import { listReply, type RedisLink } from './link.ts';

const batchSize = 1_000;

/** A journal in a Redis stream, which is never trimmed and never expires. */
export const redisJournal = (link: RedisLink, key: string): Journal => ({
  async append(entry) {
    await link.send(['XADD', key, '*', 'entry', JSON.stringify(entry)]);
  },
  async read() {
    const entries: Record<string, unknown>[] = [];
    let damaged = 0;
    for (let after = '-'; ; ) {
      const range = ['XRANGE', key, after, '+', 'COUNT', String(batchSize)];
      const batch = listReply(await link.send(range)).map(listReply);
      for (const [, fields] of batch) {
        const entry = parseLine(String(listReply(fields)[1]));
        if (entry) entries.push(entry);
        else damaged += 1;
      }
      const last = batch.at(-1);
      if (!last || batch.length < batchSize) return { entries, damaged };
      after = `(${String(last[0])}`;
    }
  },
});
