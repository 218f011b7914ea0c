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
const maxRememberedPages = 200;
const freshMs = 5 * 60_000;

/** What lists show of a company. */
export type NamedCompany = Pick<Company, 'id' | 'name' | 'currency'>;

type Found = ReadonlyMap<string, NamedCompany>;
const none: Found = new Map();

/**
 * The companies that rows of lists refer to, for their names and currencies: read with one request for a page of a
 * list, without reading all companies, and remembered for this page.
 */
export class ReferencedCompanies {
  readonly #pages: ServicePages;
  readonly #client: Pick<ApiClient, 'getRecord'>;
  /** By the ids. */
  readonly #remembered = new BoundedMap<string, { asOf: Date; found: Found }>(maxRememberedPages);

  constructor(client: Pick<ApiClient, 'getRecord'>, pages: ServicePages) {
    this.#pages = pages;
    this.#client = client;
  }

  clear(): void {
    this.#remembered.clear();
  }

  /**
   * These companies, remembered or read, as far as a few requests can. What cannot be read is left out; after a temporary
   * error the next call tries again, and a service that refuses companies is not asked for the same ones again.
   * @throws ApiError if the key is refused; the signal's reason when the call was cancelled
   */
  async read(ids: readonly string[], call: Call): Promise<Found> {
    const wanted = [...new Set(ids)];
    const remembered = this.#remembered.get(wanted.join());
    if (remembered && ageOf(remembered.asOf) < freshMs) return remembered.found;
    const asOf = new Date();
    try {
      const [pages, client] = [this.#pages, this.#client];
      const read = await readByIds(pages, client, 'company', wanted, maxSingleReads, call);
      const found = new Map([...read.found].map(([id, company]) => [id, named(company)]));
      this.#remembered.set(wanted.join(), { asOf, found });
      return found;
    } catch (error) {
      if (!isApiError(error) || error.kind === 'key-refused') throw error;
      if (!error.retryable) this.#remembered.set(wanted.join(), { asOf, found: none });
      return none;
    }
  }
}

const named = ({ id, name, currency }: Company): NamedCompany => compact({ id, name, currency });
