import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseJson } from '../../values.ts';
import { isEvent, readPage } from '../inbox.ts';
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
import { appendLines, isCutLine } from './json-files.ts';

/** Where an event is in the file, and the fields that queries use. */
interface IndexEntry extends InboxEntry {
  arrived: number;
  offset: number;
  length: number;
}

interface Arrival {
  event: InboxEvent;
  update: Update | undefined;
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
  readonly #pending: Arrival[] = [];
  /** The next write, which stores what is pending. */
  #write: Promise<ReadonlySet<Arrival>> | undefined;
  #index = new FileIndex(0);
  #compactedAt = 0;

  constructor(path: string, limits: InboxLimits, notify: (update: Update) => void) {
    this.#path = path;
    this.#limits = limits;
    this.#notify = notify;
  }

  async add(event: InboxEvent, update?: Update): Promise<'new' | 'known'> {
    const arrival = { event, update };
    this.#pending.push(arrival);
    // Events that arrive during a write are stored together by the next one.
    this.#write ??= this.#mutex.runExclusive('file', () => this.#storePending());
    return (await this.#write).has(arrival) ? 'new' : 'known';
  }

  list(accepts: (entry: InboxEntry) => boolean, slice: InboxSlice): Promise<InboxPage> {
    return this.#mutex.runExclusive('file', () =>
      this.#withFile(async (file) => {
        const { entries, damaged } = this.#index;
        // Reversed first: of events with the same time, the one that arrived last is the newest.
        const newestFirst = entries.toReversed().sort((a, b) => b.at - a.at);
        const page = await readPage(newestFirst, accepts, slice, async ({ offset, length }) => {
          const read = await file?.read(Buffer.allocUnsafe(length), 0, length, offset);
          return read?.buffer.toString('utf8');
        });
        return { ...page, damaged, keptSince: entries[0]?.arrived };
      }),
    );
  }

  /** @returns those that were stored: the first of each event that is not known */
  async #storePending(): Promise<ReadonlySet<Arrival>> {
    const arrivals = this.#pending.splice(0);
    this.#write = undefined;
    await this.#withFile(async () => {});
    const added = new Map<string, Arrival>();
    for (const arrival of arrivals) {
      const { id } = arrival.event;
      if (!this.#index.ids.has(id) && !added.has(id)) added.set(id, arrival);
    }
    const stored = new Set(added.values());
    try {
      if (stored.size > 0) await appendLines(this.#path, [...stored].map(toLine));
    } finally {
      // A write that failed may have stored some of them.
      for (const { update } of stored) if (update) this.#notify(update);
    }
    await this.#compact().catch(() => {}); // The file stays larger; the next write tries again.
    return stored;
  }

  /** Opens the file, if it exists, updates the index, and runs `work`. */
  async #withFile<T>(work: (file: FileHandle | undefined) => Promise<T>): Promise<T> {
    const file = await open(this.#path).catch(ifMissing(undefined));
    try {
      const { size = 0, ino = 0 } = (await file?.stat()) ?? {};
      // Another process compacted the file, or it was replaced or deleted.
      if (ino !== this.#index.inode || size < this.#index.readTo) this.#index = new FileIndex(ino);
      if (file && size > this.#index.readTo) await this.#index.read(file, size);
      this.#index.dropExpired(this.#limits);
      return await work(file);
    } finally {
      await file?.close();
    }
  }

  /** Rewrites the file without expired events, once they take more space than the kept ones, or daily. */
  async #compact(): Promise<void> {
    await this.#withFile(async () => {});
    const { entries, readTo, bytes } = this.#index;
    const start = entries[0]?.offset ?? readTo;
    const isLarge = start >= bytes + minCompactBytes;
    if (!isLarge && (start === 0 || Date.now() - this.#compactedAt < dayMs)) return;
    await replaceFile(this.#path, createReadStream(this.#path, { start }));
    await syncFolder(dirname(this.#path));
    this.#compactedAt = Date.now();
  }
}

/** What is known of a file up to `readTo`. */
class FileIndex {
  readonly inode: number;
  /** In the order of arrival, which is the order of the file. */
  readonly entries: IndexEntry[] = [];
  readonly ids = new Set<string>();
  bytes = 0;
  damaged = 0;
  readTo = 0;

  constructor(inode: number) {
    this.inode = inode;
  }

  /** Adds the complete lines up to `size`; text after the last line break is still being written. */
  async read(file: FileHandle, size: number): Promise<void> {
    const range = { start: this.readTo, end: size - 1, autoClose: false };
    const chunks: AsyncIterable<Buffer> = file.createReadStream({
      ...range,
      highWaterMark: chunkBytes,
    });
    let rest = Buffer.alloc(0);
    for await (const chunk of chunks) {
      rest = Buffer.concat([rest, chunk]);
      for (let cut = rest.indexOf(10); cut >= 0; cut = rest.indexOf(10)) {
        this.#addLine(rest.toString('utf8', 0, cut), cut);
        rest = rest.subarray(cut + 1);
      }
    }
  }

  #addLine(text: string, length: number): void {
    const offset = this.readTo;
    this.readTo += length + 1;
    if (text === '' || isCutLine(text)) return;
    const line = parseJson(text);
    if (!isEventLine(line)) {
      this.damaged += 1;
      return;
    }
    const { id, at, arrived, subject, event, record } = line;
    if (this.ids.has(id)) return;
    this.ids.add(id);
    this.entries.push({ id, at, arrived, subject, event, record, offset, length });
    this.bytes += length;
  }

  dropExpired({ days, events, megabytes }: InboxLimits): void {
    const oldest = Date.now() - days * dayMs;
    let expired = 0;
    for (const { id, arrived, length } of this.entries) {
      const tooMany = this.entries.length - expired > events;
      if (arrived > oldest && !tooMany && this.bytes <= megabytes * 1024 * 1024) break;
      this.bytes -= length;
      this.ids.delete(id);
      expired += 1;
    }
    this.entries.splice(0, expired);
  }
}

function toLine({ event }: Arrival): string {
  const arrived = Date.now();
  return JSON.stringify({ ...event, at: event.at ?? arrived, arrived });
}

const isEventLine = (line: unknown): line is InboxEvent & { at: number; arrived: number } =>
  isEvent(line) && typeof line.at === 'number' && typeof line.arrived === 'number';
