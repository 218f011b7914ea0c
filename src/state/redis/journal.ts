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
      const batch = await readBatch(link, key, after);
      for (const { line } of batch) {
        const entry = parseLine(line);
        if (entry) entries.push(entry);
        else damaged += 1;
      }
      const last = batch.at(-1);
      if (!last || batch.length < batchSize) return { entries, damaged };
      after = `(${last.id}`;
    }
  },
});

async function readBatch(
  link: RedisLink,
  key: string,
  start: string,
): Promise<{ id: string; line: string }[]> {
  const reply = await link.send(['XRANGE', key, start, '+', 'COUNT', String(batchSize)]);
  return listReply(reply).map((entry) => {
    const [id, fields] = listReply(entry);
    return { id: String(id), line: String(listReply(fields)[1] ?? '') };
  });
}
