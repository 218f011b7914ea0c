import { BoundedMap } from '../containers.ts';
import { compact } from '../figures/fields.ts';
import type { Call } from '../service/call.ts';
import type { ApiClient } from '../service/client.ts';
import { isApiError, unlessKeyRefused } from '../service/errors.ts';
import type { Company, Product, RecordOf } from '../service/records/records.ts';
import { readByIds } from './by-ids.ts';
import { ageOf } from './cache.ts';
import type { ServicePages } from './service-pages.ts';

/** Records read by id for one page of a list, from a service that does not filter by ids. */
const maxSingleReads = 2;
const maxRememberedPages = 200;
const freshMs = 5 * 60_000;

/** What lists show of a record that their rows refer to. */
export type ReferencedRecord = Pick<Company, 'id' | 'name' | 'currency'> & Pick<Product, 'mpn'>;

export interface ReferencedRead {
  found: ReadonlyMap<string, ReferencedRecord>;
  /** False if others may exist: they can only be read one by one. */
  isWhole: boolean;
}

/**
 * The records that rows of lists refer to by id, for their names and currencies: read with one request for a page of a
 * list, without reading the whole collection, and remembered for this page.
 */
export function referencedRecords(client: Pick<ApiClient, 'getRecord'>, pages: ServicePages) {
  /** By the collection and the ids. */
  const remembered = new BoundedMap<string, { asOf: Date; read: ReferencedRead }>(
    maxRememberedPages,
  );
  return {
    clear: () => remembered.clear(),
    /**
     * These records, remembered or read, as far as a few requests can. What cannot be read is left out; after a temporary
     * error the next call tries again, and a service that refuses records is not asked for the same ones again.
     * @throws ApiError if the key is refused; the signal's reason when the call was cancelled
     */
    async read(
      resource: 'company' | 'product',
      ids: readonly string[],
      call: Call,
    ): Promise<ReferencedRead> {
      const wanted = [...new Set(ids)];
      const key = `${resource} ${wanted}`;
      const known = remembered.get(key);
      if (known && ageOf(known.asOf) < freshMs) return known.read;
      const asOf = new Date();
      try {
        const whole = await readByIds(pages, client, resource, wanted, maxSingleReads, call);
        const found = new Map([...whole.found].map(([id, record]) => [id, shownOf(record)]));
        const read = { found, isWhole: whole.isWhole };
        remembered.set(key, { asOf, read });
        return read;
      } catch (error) {
        unlessKeyRefused(error);
        const read = { found: new Map(), isWhole: true };
        if (isApiError(error) && !error.retryable) remembered.set(key, { asOf, read });
        return read;
      }
    },
  };
}

const shownOf = ({
  id,
  name,
  currency,
  mpn,
}: RecordOf['company'] & RecordOf['product']): ReferencedRecord =>
  compact({ id, name, currency, mpn });
