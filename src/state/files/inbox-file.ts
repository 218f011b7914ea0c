import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readPage } from '../inbox.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import type {
  Inbox,
  InboxEntry,
  InboxEvent,
  InboxLimits,
  InboxPage,
  InboxSlice,
  Update,
} from '../port.ts';
import { ifMissing, replaceFile, syncFolder } from './files.ts';
import { appendLines, isCutLine, parseLine } from './json-files.ts';

/** The index entry of an event: its position in the file, and the fields that queries use. */
interface IndexEntry extends InboxEntry {
  arrived: number;
  offset: number;
  length: number;
}

interface Arrival {
  event: InboxEvent;
  update: Update | undefined;
  onStored(how: 'new' | 'known'): void;
  onFailed(error: unknown): void;
}

const dayMs = 86_400_000;
const chunkBytes = 1024 * 1024;
/** The file is compacted when expired events take at least this much more than the kept ones. */
const minCompactBytes = 1024 * 1024;

/**
 * An inbox in a file: one JSON object per line, in the order of arrival. `add` returns after the event is synced
 * to disk. The index is in memory and is updated when another process appends to the file.
 */
export class InboxFile implements Inbox {
  readonly #path: string;
  readonly #limits: InboxLimits;
  readonly #notify: (update: Update) => void;
  readonly #mutex = new KeyedMutex();
  readonly #ids = new Set<string>();
  #pending: Arrival[] = [];
  /** In the order of arrival, which is the order of the file. */
  #entries: IndexEntry[] = [];
  #bytes = 0;
  #damaged = 0;
  /** The offset up to which the index was built, and the inode of that file. */
  #readTo = 0;
  #inode = 0;
  #compactedAt = 0;

  constructor(path: string, limits: InboxLimits, notify: (update: Update) => void) {
    this.#path = path;
    this.#limits = limits;
    this.#notify = notify;
  }

  add(event: InboxEvent, update?: Update): Promise<'new' | 'known'> {
    return new Promise((onStored, onFailed) => {
      this.#pending.push({ event, update, onStored, onFailed });
      // Events that arrive during a write are stored together by the next one.
      if (this.#pending.length === 1)
        void this.#mutex.runExclusive('file', () => this.#storePending());
    });
  }

  list(accepts: (entry: InboxEntry) => boolean, slice: InboxSlice): Promise<InboxPage> {
    return this.#mutex.runExclusive('file', () =>
      this.#withFile(async (file) => {
        // Reversed first: of events with the same time, the one that arrived last is the newest.
        const newestFirst = this.#entries.toReversed().sort((a, b) => b.at - a.at);
        const page = await readPage(newestFirst, accepts, slice, (entry) => loadEvent(file, entry));
        const [oldest] = this.#entries;
        const keptSince = oldest ? { keptSince: oldest.arrived } : {};
        return { ...page, damaged: this.#damaged, ...keptSince };
      }),
    );
  }

  async #storePending(): Promise<void> {
    const arrivals = this.#pending.splice(0);
    try {
      await this.#withFile(async () => {});
      const added = await this.#store(arrivals.filter(({ event }) => !this.#ids.has(event.id)));
      for (const arrival of arrivals)
        arrival.onStored(added.get(arrival.event.id) === arrival ? 'new' : 'known');
    } catch (error) {
      for (const arrival of arrivals) arrival.onFailed(error);
      return;
    }
    await this.#compact().catch(() => {}); // The file stays larger; the next write tries again.
  }

  /** @returns those that were stored, by id: the first of each */
  async #store(arrivals: readonly Arrival[]): Promise<ReadonlyMap<string, Arrival>> {
    const added = new Map(arrivals.toReversed().map((arrival) => [arrival.event.id, arrival]));
    const inOrder = arrivals.filter((arrival) => added.get(arrival.event.id) === arrival);
    try {
      if (added.size > 0) await appendLines(this.#path, inOrder.map(toLine));
    } finally {
      // A write that failed may have stored some of them.
      for (const { update } of inOrder) if (update) this.#notify(update);
    }
    return added;
  }

  /** Opens the file, if it exists, updates the index, and runs `work`. */
  async #withFile<T>(work: (file: FileHandle | undefined) => Promise<T>): Promise<T> {
    const file = await open(this.#path, 'r+').catch(ifMissing(undefined));
    if (!file) this.#reset(0);
    try {
      if (file) await this.#updateIndex(file);
      this.#dropExpired();
      return await work(file);
    } finally {
      await file?.close();
    }
  }

  async #updateIndex(file: FileHandle): Promise<void> {
    const { size, ino } = await file.stat();
    // Another process compacted the file, or the file was replaced.
    if (ino !== this.#inode || size < this.#readTo) this.#reset(ino);
    if (size === this.#readTo) return;
    for await (const { line, offset, length } of linesFrom(file, this.#readTo, size)) {
      this.#readTo = offset + length + 1;
      if (line !== '' && !isCutLine(line)) this.#indexLine(parseLine(line), offset, length);
    }
  }

  #reset(inode: number): void {
    this.#inode = inode;
    this.#entries = [];
    this.#ids.clear();
    this.#bytes = this.#damaged = this.#readTo = 0;
  }

  #indexLine(line: Record<string, unknown> | undefined, offset: number, length: number): void {
    if (!line || !isEventLine(line)) {
      this.#damaged += 1;
      return;
    }
    const { id, at, arrived, subject, event, record } = line;
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    this.#entries.push({ id, at, arrived, subject, event, record, offset, length });
    this.#bytes += length;
  }

  #dropExpired(): void {
    const { days, events, megabytes } = this.#limits;
    const oldest = Date.now() - days * dayMs;
    let expired = 0;
    for (const { id, arrived, length } of this.#entries) {
      const tooMany = this.#entries.length - expired > events;
      if (arrived > oldest && !tooMany && this.#bytes <= megabytes * 1024 * 1024) break;
      this.#bytes -= length;
      this.#ids.delete(id);
      expired += 1;
    }
    this.#entries.splice(0, expired);
  }

  /** Rewrites the file without expired events, once they take more space than the kept ones, or daily. */
  async #compact(): Promise<void> {
    await this.#withFile(async () => {});
    const start = this.#entries[0]?.offset ?? this.#readTo;
    const isLarge = start >= this.#bytes + minCompactBytes;
    if (!isLarge && (start === 0 || Date.now() - this.#compactedAt < dayMs)) return;
    await replaceFile(this.#path, createReadStream(this.#path, { start }));
    await syncFolder(dirname(this.#path));
    this.#compactedAt = Date.now();
  }
}

function toLine({ event }: Arrival): string {
  const arrived = Date.now();
  return JSON.stringify({ ...event, at: event.at ?? arrived, arrived });
}

type Line = InboxEvent & { at: number; arrived: number };

function isEventLine(line: Record<string, unknown>): line is Record<string, unknown> & Line {
  const { id, at, arrived, subject, event, record, body } = line;
  const texts = [id, subject, event, body].every((text) => typeof text === 'string');
  const times = [at, arrived].every((time) => typeof time === 'number');
  return texts && times && (record === undefined || typeof record === 'string');
}

async function loadEvent(
  file: FileHandle | undefined,
  { offset, length }: IndexEntry,
): Promise<InboxEvent | undefined> {
  const read = await file?.read(Buffer.allocUnsafe(length), 0, length, offset);
  const line = parseLine(read?.buffer.toString('utf8') ?? '');
  if (!line || !isEventLine(line)) return undefined;
  const { arrived: _, ...event } = line;
  return event;
}

/** The complete lines between two offsets; text after the last line break is still being written. */
async function* linesFrom(
  file: FileHandle,
  start: number,
  end: number,
): AsyncGenerator<{ line: string; offset: number; length: number }> {
  let rest = Buffer.alloc(0);
  let offset = start;
  for (let at = start; at < end; ) {
    const length = Math.min(chunkBytes, end - at);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    for (let cut = rest.indexOf(10); cut >= 0; cut = rest.indexOf(10)) {
      yield { line: rest.toString('utf8', 0, cut), offset, length: cut };
      offset += cut + 1;
      rest = rest.subarray(cut + 1);
    }
  }
}
