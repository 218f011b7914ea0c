import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type SelectedRow, selectPage } from '../inbox-page.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import type {
  Inbox,
  InboxEntry,
  InboxEvent,
  InboxLimits,
  InboxPage,
  InboxRow,
  InboxSlice,
  Update,
} from '../port.ts';
import { draftPath, ifMissing, removeAbandonedDrafts, syncFolder } from './files.ts';
import { appendLines, isCutLine, parseLine } from './json-lines.ts';

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
  readonly #byId = new Map<string, IndexEntry>();
  #pending: Arrival[] = [];
  /** In the order of arrival, which is the order of the file. */
  #entries: IndexEntry[] = [];
  /** The entries by time, newest first; computed on demand. */
  #sorted: IndexEntry[] | undefined;
  #bytes = 0;
  /** Arrival of the first expired event that is still in the file. */
  #oldestExpired: number | undefined;
  /** Offsets of damaged lines. */
  #damaged: number[] = [];
  /** True if the last write may not be synced: its events must not count as known yet. */
  #unsynced = false;
  /** Ids of events that a failed write may have stored: a repetition publishes their updates. */
  readonly #unpublished = new Set<string>();
  /** The offset up to which the index was built, and the inode of that file. */
  #readTo = 0;
  #inode = 0;

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
        this.#dropExpired();
        const { selected, total } = selectPage(this.#newestFirst(), accepts, slice);
        const rows: InboxRow[] = [];
        for (const one of selected) if (file) rows.push(await loadRow(file, one));
        const [oldest] = this.#entries;
        const page = { rows, total, damaged: this.#damaged.length };
        return oldest ? { ...page, keptSince: oldest.arrived } : page;
      }),
    );
  }

  async #storePending(): Promise<void> {
    const arrivals = this.#pending.splice(0);
    try {
      await this.#store(arrivals);
    } catch (error) {
      for (const arrival of arrivals) arrival.onFailed(error);
      return;
    }
    for (const { event, update, onStored } of arrivals) {
      const isNew = this.#unpublished.delete(event.id);
      if (isNew && update) this.#notify(update);
      onStored(isNew ? 'new' : 'known');
    }
    await this.#compact().catch(() => {}); // The file stays larger; the next write tries again.
  }

  async #store(arrivals: readonly Arrival[]): Promise<void> {
    await this.#withFile(async (file) => this.#unsynced && file?.sync());
    for (const id of this.#unpublished) if (!this.#byId.has(id)) this.#unpublished.delete(id);
    const added = this.#withoutDuplicates(arrivals);
    if (added.size > 0) {
      this.#unsynced = true;
      for (const id of added.keys()) this.#unpublished.add(id);
      await appendLines(this.#path, [...added.values()].map(toLine));
      await this.#withFile(async () => {});
    }
    this.#unsynced = false;
  }

  #withoutDuplicates(arrivals: readonly Arrival[]): Map<string, Arrival> {
    const added = new Map<string, Arrival>();
    for (const arrival of arrivals) {
      const { id } = arrival.event;
      if (!this.#byId.has(id) && !added.has(id)) added.set(id, arrival);
    }
    return added;
  }

  /** Opens the file, if it exists, updates the index, and runs `work`. */
  async #withFile<T>(work: (file: FileHandle | undefined) => Promise<T>): Promise<T> {
    const file = await open(this.#path, 'r+').catch(ifMissing(undefined));
    if (!file) this.#reset(0);
    try {
      if (file) await this.#updateIndex(file);
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
    this.#sorted = undefined;
    this.#byId.clear();
    this.#damaged = [];
    this.#oldestExpired = undefined;
    this.#bytes = this.#readTo = 0;
  }

  #indexLine(line: Record<string, unknown> | undefined, offset: number, length: number): void {
    if (!line || !isEventLine(line)) {
      this.#damaged.push(offset);
      return;
    }
    const { id, at, arrived, subject, event, record } = line;
    if (this.#byId.has(id)) return;
    const entry = { id, at, arrived, subject, event, record, offset, length };
    this.#byId.set(id, entry);
    this.#entries.push(entry);
    this.#bytes += length;
    this.#sorted = undefined;
  }

  #newestFirst(): IndexEntry[] {
    // Reversed first: of events with the same time, the one that arrived last is the newest.
    this.#sorted ??= this.#entries.toReversed().sort((a, b) => b.at - a.at);
    return this.#sorted;
  }

  #dropExpired(): void {
    const { days, events, megabytes } = this.#limits;
    const oldest = Date.now() - days * dayMs;
    let expired = 0;
    for (const { arrived, length } of this.#entries) {
      const tooMany = this.#entries.length - expired > events;
      if (arrived > oldest && !tooMany && this.#bytes <= megabytes * 1024 * 1024) break;
      this.#bytes -= length;
      expired += 1;
    }
    const dropped = this.#entries.splice(0, expired);
    const [first, last] = [dropped[0], dropped.at(-1)];
    if (!first || !last) return;
    this.#oldestExpired ??= first.arrived;
    for (const { id } of dropped) this.#byId.delete(id);
    // Lines before an expired one arrived earlier.
    this.#damaged = this.#damaged.filter((offset) => offset > last.offset);
    this.#sorted = undefined;
  }

  /** Rewrites the file without expired events, once they take more space than the kept ones or for a day. */
  async #compact(): Promise<void> {
    this.#dropExpired();
    const start = this.#entries[0]?.offset ?? this.#readTo;
    const expiredAt = (this.#oldestExpired ?? Number.NaN) + this.#limits.days * dayMs;
    const isDue = start >= this.#bytes + minCompactBytes || Date.now() - expiredAt > dayMs;
    if (!isDue) return;
    const copy = draftPath(this.#path);
    try {
      const inode = await copyFrom(this.#path, start, copy);
      await rename(copy, this.#path);
      await syncFolder(dirname(this.#path));
      for (const entry of this.#entries) entry.offset -= start;
      this.#damaged = this.#damaged.flatMap((at) => (at < start ? [] : [at - start]));
      this.#readTo -= start;
      this.#inode = inode;
      this.#oldestExpired = undefined;
      await removeAbandonedDrafts(dirname(this.#path), `${basename(this.#path)}.`);
    } finally {
      await rm(copy, { force: true });
    }
  }
}

/** @returns the inode of the copy */
async function copyFrom(path: string, start: number, copy: string): Promise<number> {
  await pipeline(createReadStream(path, { start }), createWriteStream(copy, { mode: 0o600 }));
  const file = await open(copy, 'r+');
  try {
    await file.sync();
    return (await file.stat()).ino;
  } finally {
    await file.close();
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

async function loadRow(
  file: FileHandle,
  { row, previous }: SelectedRow<IndexEntry>,
): Promise<InboxRow> {
  const event = await loadEvent(file, row);
  return previous ? { event, previous: await loadEvent(file, previous) } : { event };
}

async function loadEvent(
  file: FileHandle,
  { offset, length }: IndexEntry,
): Promise<InboxEvent & { at: number }> {
  const { buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
  const { arrived: _, ...event } = JSON.parse(buffer.toString('utf8')) as Line;
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
