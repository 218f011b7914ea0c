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

  /** Of each renamed company its id and earlier names, for other processes. */
  get earlier(): string[][] {
    return [...this.#names].map(([id, { earlier }]) => [id, ...earlier]);
  }

  /** Notes what two readings of the companies call differently, and the earlier names that another process noted. */
  note(before: Records, now: Records, kept: readonly string[][] = []): void {
    if (before === now && kept.length === 0) return;
    const names = new Map(before.map(({ id, name }) => [id, name]));
    const noted = new Map<unknown, string[]>(kept.map(([id, ...earlier]) => [id, earlier]));
    for (const { id, name } of now) {
      if (typeof id !== 'string' || typeof name !== 'string') continue;
      const known = [...(this.#names.get(id)?.earlier ?? []), ...(noted.get(id) ?? [])];
      const was = names.get(id);
      const earlier = new Set(typeof was === 'string' ? [...known, was] : known);
      earlier.delete(name);
      if (earlier.size > 0) this.#names.set(id, { earlier, name });
    }
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
