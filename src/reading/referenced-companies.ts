import { BoundedMap } from '../containers.ts';
import type { Call } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { ignoreApiError, isApiError } from '../service/errors.ts';
import type { Company } from '../service/records/records.ts';
import { ReadTime } from './age.ts';
import type { ServicePages } from './service-pages.ts';

/** Companies read by id for one page of a list, from a service that does not filter by ids. */
const maxSingleReads = 2;
/** Maximum number of companies that are remembered. */
const maxRemembered = 5_000;
const freshMs = 5 * 60_000;
/** The property of the route that says whether the service filters companies by id. */
const filterById = 'filters id';

/** What lists show of a company. */
export type NamedCompany = Pick<Company, 'id' | 'name' | 'currency'>;

interface Entry {
  readAt: ReadTime;
  /** `undefined` if there is no such company, or if it was not read. */
  company: NamedCompany | undefined;
}

type Client = Pick<ApiClient, 'page' | 'getRecord'>;
type Pages = Pick<ServicePages, 'traits' | 'learn'>;

/**
 * The companies that rows of lists refer to, for their names and currencies: read with one request for a page of a
 * list, without reading all companies, and remembered.
 */
export class ReferencedCompanies {
  readonly #pages: Pages;
  readonly #client: Client;
  readonly #entries = new BoundedMap<string, Entry>(maxRemembered);
  readonly #running = new Map<string, Promise<void>>();

  constructor(client: Client, pages: Pages) {
    this.#client = client;
    this.#pages = pages;
  }

  get(id: string): NamedCompany | undefined {
    return this.#entries.get(id)?.company;
  }

  clear(): void {
    this.#entries.clear();
  }

  /**
   * Reads those of these companies that are not remembered, as far as a few requests can. What cannot be read stays
   * unknown.
   * @throws ApiError if the key is refused; the signal's reason when the call was cancelled
   */
  async read(ids: readonly string[], call: Call): Promise<void> {
    const isFresh = (id: string) => (this.#entries.peek(id)?.readAt.ageMs ?? freshMs) < freshMs;
    const unread = ids.filter((id) => !isFresh(id));
    if (unread.length === 0) return;
    const missing = new Set(unread);
    const others = [...missing].flatMap((id) => this.#running.get(id)?.catch(() => {}) ?? []);
    await this.#readOwn(
      [...missing].filter((id) => !this.#running.has(id)),
      call,
    );
    await Promise.all(others);
  }

  async #readOwn(ids: readonly string[], call: Call): Promise<void> {
    if (ids.length === 0) return;
    const reading = this.#readUnlessRefused(ids, call);
    for (const id of ids) this.#running.set(id, reading);
    try {
      await reading;
    } finally {
      for (const id of ids) this.#running.delete(id);
    }
  }

  /** A service that refuses companies is not asked for the same ones again while they are fresh. */
  async #readUnlessRefused(ids: readonly string[], call: Call): Promise<void> {
    try {
      for (const id of await this.#readFiltered(ids, call)) this.#remember(id, undefined);
    } catch (error) {
      if (!isApiError(error) || error.kind === 'key-refused') throw error;
      if (!error.retryable) for (const id of ids) this.#remember(id, this.get(id));
    }
  }

  /** @returns the ids that could not be read */
  async #readFiltered(ids: readonly string[], call: Call): Promise<readonly string[]> {
    let missing = ids.filter((id) => !/[,:|]/.test(id));
    const others = ids.filter((id) => !missing.includes(id));
    while (missing.length > 0 && this.#pages.traits('company').honoured[filterById] !== false) {
      const found = await this.#findPage(missing, call);
      if (found.length === 0) break;
      missing = missing.filter((id) => !found.includes(id));
    }
    return this.#readSingly([...missing, ...others], call);
  }

  /** The ids that the service's filter finds. */
  async #findPage(ids: readonly string[], call: Call): Promise<readonly string[]> {
    const { maxSize = ids.length, honoured } = this.#pages.traits('company');
    const size = maxSize === 'none' ? undefined : Math.min(ids.length, maxSize);
    const query = { filters: `id:${ids.join('|')}`, size };
    const page = await this.#client.page('company', query, call).catch(ignoreApiError('refused'));
    const records = page?.records ?? [];
    const found = records.filter(({ id = '' }) => ids.includes(id));
    if (!page || found.length < records.length)
      this.#pages.learn('company', { honoured: { ...honoured, [filterById]: false } });
    return found.map((company) => this.#remember(company.id ?? '', company));
  }

  async #readSingly(ids: readonly string[], call: Call): Promise<readonly string[]> {
    const single = ids.slice(0, maxSingleReads).map(async (id) => {
      const reading = this.#client.getRecord('company', 'id', id, call);
      this.#remember(id, await reading.catch(ignoreApiError('not-found', 'refused')));
    });
    await Promise.all(single);
    return ids.slice(maxSingleReads);
  }

  #remember(id: string, company: NamedCompany | undefined): string {
    const { name, currency } = company ?? {};
    const known = company && {
      id,
      ...(name !== undefined && { name }),
      ...(currency !== undefined && { currency }),
    };
    this.#entries.set(id, { readAt: new ReadTime(), company: known });
    return id;
  }
}
