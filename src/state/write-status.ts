import { open, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Inbox, Journal } from './port.ts';

/** Tells whoever runs this that something cannot be written, or can be again. */
export type Tell = (event: string, facts: Record<string, unknown>) => void;

interface Failure {
  since: Date;
  code: string;
}

/** How the last write went of each thing that must last. */
export class WriteStatus {
  readonly #tell: Tell;
  readonly #isOutage: () => boolean;
  readonly #failures = new Map<string, Failure>();

  /** @param isOutage whether the whole store is away: that is reported once, and not for each write that fails */
  constructor(report: Tell = () => {}, isOutage: () => boolean = () => false) {
    this.#tell = report;
    this.#isOutage = isOutage;
  }

  /** The failure that has lasted longest, where a last write failed. */
  get failure(): Failure | undefined {
    return this.#failures.values().next().value;
  }

  /** What could not be written. */
  get failing(): string[] {
    return [...this.#failures.keys()];
  }

  journal(name: string, journal: Journal): Journal {
    return {
      append: (entry) => this.#watch(name, () => journal.append(entry)),
      read: () => journal.read(),
    };
  }

  inbox(name: string, inbox: Inbox): Inbox {
    return {
      add: (event, update) =>
        this.#watch(
          name,
          () => inbox.add(event, update),
          (how) => how === 'new',
        ),
      list: (accepts, slice) => inbox.list(accepts, slice),
    };
  }

  succeeded(name: string): void {
    if (this.#failures.delete(name))
      this.#tell('state can be written again', { name: label(name) });
  }

  /** Everything can be written again, as far as is known. */
  reset(): void {
    for (const name of this.failing) this.succeeded(name);
  }

  #failed(name: string, error: unknown): void {
    if (this.#failures.has(name) || this.#isOutage()) return;
    const code = (error as NodeJS.ErrnoException | null)?.code ?? 'unknown';
    this.#failures.set(name, { since: new Date(), code });
    this.#tell('state cannot be written', { name: label(name), code });
  }

  /** @throws what the write throws */
  async #watch<T>(
    name: string,
    write: () => Promise<T>,
    hasWritten: (result: T) => boolean = () => true,
  ): Promise<T> {
    try {
      const result = await write();
      if (hasWritten(result)) this.succeeded(name);
      return result;
    } catch (error) {
      this.#failed(name, error);
      throw error;
    }
  }
}

const label = (name: string): string => basename(name);

/** More than most entries have, so that a disk with a few bytes left does not pass for one with room. */
const probeBytes = 64 * 1024;

/**
 * Whether a file could be written now, without changing it: it can be opened, and there is room beside it.
 */
export async function isWritable(path: string): Promise<boolean> {
  const probe = `${path}.${process.pid}.probe`;
  try {
    await (await open(path, 'a', 0o600)).close();
    const file = await open(probe, 'w', 0o600);
    try {
      await file.writeFile(Buffer.alloc(probeBytes));
      await file.sync();
    } finally {
      await file.close();
    }
    return true;
  } catch {
    return false;
  } finally {
    await rm(probe, { force: true }).catch(() => {}); // It could not be made.
  }
}
