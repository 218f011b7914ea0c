import { BoundedMap } from '../containers.ts';
import { compact } from '../figures/naming.ts';
import type { Call } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { isApiError } from '../service/errors.ts';
import type { Company } from '../service/records/records.ts';
import { readByIds } from './by-ids.ts';
import { ageOf } from './cache.ts';
import type { ServicePages } from './service-pages.ts';

/** Companies read by id for one page of a list, from a service that does not filter by ids. */
const maxSingleReads = 2;
const maxRemembered = 5_000;
const freshMs = 5 * 60_000;

/** What lists show of a company. */
export type NamedCompany = Pick<Company, 'id' | 'name' | 'currency'>;

interface Entry {
  asOf: Date;
  /** `undefined` if there is no such company, or if it was not read. */
  company: NamedCompany | undefined | Promise<NamedCompany | undefined>;
}

type Found = ReadonlyMap<string, NamedCompany>;
const never = new Date(0);
/** What is found where the service refuses companies. */
const refused: Found = new Map();

/**
 * The companies that rows of lists refer to, for their names and currencies: read with one request for a page of a
 * list, without reading all companies, and remembered.
 */
export class ReferencedCompanies {
  readonly #pages: ServicePages;
  readonly #client: Pick<ApiClient, 'getRecord'>;
  readonly #entries = new BoundedMap<string, Entry>(maxRemembered);

  constructor(client: Pick<ApiClient, 'getRecord'>, pages: ServicePages) {
    this.#pages = pages;
    this.#client = client;
  }

  clear(): void {
    this.#entries.clear();
  }

  /**
   * These companies, remembered or read, as far as a few requests can. What cannot be read is left out.
   * @throws ApiError if the key is refused; the signal's reason when the call was cancelled
   */
  async read(ids: readonly string[], call: Call): Promise<Found> {
    const found = new Map<string, NamedCompany>();
    const isUnread = (id: string) => ageOf(this.#entries.get(id)?.asOf ?? never) >= freshMs;
    const unread = [...new Set(ids)].filter(isUnread);
    if (unread.length > 0) await this.#remember(unread, this.#readUnlessRefused(unread, call));
    // Another call may read the others.
    for (const id of ids) {
      const company = await this.#entries.get(id)?.company;
      if (company) found.set(id, company);
    }
    return found;
  }

  /** What was not read because of a temporary error is read by the next call. */
  async #remember(ids: readonly string[], reading: Promise<Found | undefined>): Promise<void> {
    const asOf = new Date();
    const entries = ids.map((id): [string, Entry] => {
      const company = reading.then((found) => found?.get(id));
      return [id, { asOf, company: company.catch(() => undefined) }];
    });
    for (const [id, entry] of entries) this.#entries.set(id, entry);
    let found: Found | undefined;
    try {
      found = await reading;
    } finally {
      for (const [id, entry] of entries) {
        entry.company = found?.get(id);
        if (!found && this.#entries.peek(id) === entry) this.#entries.delete(id);
        // The refusal itself has cleared all entries.
        if (found === refused) this.#entries.set(id, entry);
      }
    }
  }

  /** `undefined` after a temporary error. A service that refuses companies is not asked for the same ones again. */
  async #readUnlessRefused(ids: readonly string[], call: Call): Promise<Found | undefined> {
    try {
      const [pages, client] = [this.#pages, this.#client];
      const { found } = await readByIds(pages, client, 'company', ids, maxSingleReads, call);
      return new Map([...found].map(([id, company]) => [id, named(company)]));
    } catch (error) {
      if (!isApiError(error) || error.kind === 'key-refused') throw error;
      return error.retryable ? undefined : refused;
    }
  }
}

const named = ({ id, name, currency }: Company): NamedCompany => compact({ id, name, currency });
