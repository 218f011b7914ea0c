import { BoundedMap } from '../containers.ts';
import { compact } from '../figures/naming.ts';
import type { Call } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { ignoreApiError, isApiError } from '../service/errors.ts';
import type { Company } from '../service/records/records.ts';
import { ReadTime } from './cache.ts';
import type { ServicePages } from './service-pages.ts';

/** Companies read by id for one page of a list, from a service that does not filter by ids. */
const maxSingleReads = 2;
const maxRemembered = 5_000;
const freshMs = 5 * 60_000;
/** The property of the route that says whether the service filters companies by id. */
const filterById = 'filters id';

/** What lists show of a company. */
export type NamedCompany = Pick<Company, 'id' | 'name' | 'currency'>;

interface Entry {
  readAt: ReadTime;
  /** `undefined` if there is no such company, or if it was not read. */
  company: NamedCompany | undefined | Promise<NamedCompany | undefined>;
}

type Found = ReadonlyMap<string, NamedCompany>;
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
    const unread: string[] = [];
    const others: string[] = [];
    for (const id of new Set(ids)) {
      const { readAt, company } = this.#entries.get(id) ?? {};
      if (!readAt || readAt.ageMs >= freshMs) unread.push(id);
      else if (company instanceof Promise) others.push(id);
      else if (company) found.set(id, company);
    }
    if (unread.length > 0) await this.#remember(unread, this.#readUnlessRefused(unread, call));
    // Another call may read the others.
    for (const id of [...unread, ...others]) {
      const company = await this.#entries.get(id)?.company;
      if (company) found.set(id, company);
    }
    return found;
  }

  /** What was not read because of a temporary error is read by the next call. */
  async #remember(ids: readonly string[], reading: Promise<Found | undefined>): Promise<void> {
    const readAt = new ReadTime();
    const entries = ids.map((id): [string, Entry] => {
      const company = reading.then((found) => found?.get(id));
      return [id, { readAt, company: company.catch(() => undefined) }];
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
      return await this.#readAll(ids, call);
    } catch (error) {
      if (!isApiError(error) || error.kind === 'key-refused') throw error;
      return error.retryable ? undefined : refused;
    }
  }

  async #readAll(ids: readonly string[], call: Call): Promise<Found> {
    const found = new Map<string, NamedCompany>();
    const filterable = ids.filter((id) => !/[,:|]/.test(id));
    for (let missing = filterable; missing.length > 0; ) {
      const page = await this.#findPage(missing, call);
      if (page.length === 0) break;
      for (const company of page) found.set(company.id ?? '', named(company));
      missing = missing.filter((id) => !found.has(id));
    }
    const single = ids.filter((id) => !found.has(id)).slice(0, maxSingleReads);
    const reading = single.map(async (id) => {
      const asked = this.#client.getRecord('company', 'id', id, call);
      const company = await asked.catch(ignoreApiError('not-found', 'refused'));
      if (company) found.set(id, named(company));
    });
    await Promise.all(reading);
    return found;
  }

  /** The companies that the service's filter finds; none where it does not filter by ids. */
  async #findPage(ids: readonly string[], call: Call): Promise<Company[]> {
    if (this.#pages.traits('company').honoured[filterById] === false) return [];
    const query = { filters: `id:${ids.join('|')}`, size: ids.length };
    const page = await this.#pages.sized('company', query, call).catch(ignoreApiError('refused'));
    const records = page?.records ?? [];
    const found = records.filter(({ id = '' }) => ids.includes(id));
    if (!page || found.length < records.length)
      this.#pages.learnHonoured('company', filterById, false);
    return found;
  }
}

const named = ({ id, name, currency }: Company): NamedCompany => compact({ id, name, currency });
