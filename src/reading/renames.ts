/**
 * Companies that were renamed while records that refer to them were held: the renaming does not change these, so that
 * bringing them up to date does not show it.
 */

import { companyOf } from '../names/references.ts';
import type { ApiRecord, Resource } from '../service/records/records.ts';
import { freezeRecord } from './pass.ts';

type Records = readonly ApiRecord[];

/** Collections whose records have the names of their companies. */
export const namingCompanies: readonly Resource[] = [
  'contact',
  'opportunity',
  'quote',
  'contract_item',
];

export class Renames {
  /** By the id of a company its name, and those it had before. */
  readonly #names = new Map<string, { earlier: Set<string>; name: string }>();

  /** Notes what two readings of the companies call differently. @returns whether there is any */
  note(before: Records, now: Records): boolean {
    if (before === now) return false;
    const names = new Map(before.map(({ id, name }) => [id, name]));
    let isAny = false;
    for (const { id, name } of now) {
      const was = names.get(id);
      if (typeof id !== 'string' || typeof name !== 'string' || typeof was !== 'string') continue;
      if (was === name) continue;
      isAny = true;
      const { earlier } = this.#names.get(id) ?? { earlier: new Set() };
      this.#names.set(id, { earlier: earlier.add(was), name });
    }
    return isAny;
  }

  /** The records with the new names; the same list if none has an old one. */
  applyTo<R extends ApiRecord>(records: readonly R[]): readonly R[] {
    if (this.#names.size === 0) return records;
    let isSame = true;
    const renamed = records.map((record) => {
      const { id = '', name = '' } = companyOf(record);
      const known = this.#names.get(id);
      if (!known?.earlier.has(name)) return record;
      isSame = false;
      return withCompanyName(record, known.name);
    });
    return isSame ? records : renamed;
  }
}

function withCompanyName<R extends ApiRecord>(record: R, name: string): R {
  const { company } = record;
  const isNested = typeof company === 'object' && company !== null && 'name' in company;
  const renamed = isNested
    ? { ...record, company: { ...company, name } }
    : { ...record, companyName: name };
  freezeRecord(renamed);
  return renamed;
}
