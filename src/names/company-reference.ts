/** Whether a record belongs to a company. */

import { addTo, compact, type Named, nonBlank, normaliseName } from '../figures/naming.ts';
import { forEachStep, type Steps } from '../figures/steps.ts';
import type { ApiRecord, Company } from '../service/records/records.ts';
import { fieldOf } from '../values.ts';

/** Compares by the company's id, or by name if the record has no company id. */
export function belongsTo(record: ApiRecord, company: Company): boolean {
  const { id, name } = companyOf(record);
  if (id !== undefined) return id === company.id;
  return name !== undefined && normaliseName(name) === normaliseName(company.name);
}

/** The company of a record, from its nested record or its own fields; empty if it has none. */
export function companyOf(record: ApiRecord): Named {
  const { company, companyId, companyName } = record;
  return compact({
    id: textOf(fieldOf(company, 'id')) ?? textOf(companyId),
    name: textOf(fieldOf(company, 'name')) ?? textOf(companyName),
  });
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? nonBlank(value) : undefined;

/** Records by the company that they belong to, as `belongsTo` says. */
export class RecordsByCompany<R extends ApiRecord> {
  readonly #byId = new Map<string, Placed<R>[]>();
  /** Records that name no company id. */
  readonly #byName = new Map<string, Placed<R>[]>();

  static *of<R extends ApiRecord>(records: readonly R[]): Steps<RecordsByCompany<R>> {
    const grouped = new RecordsByCompany<R>();
    yield* forEachStep(records.entries(), ([at, record]) => {
      const { id, name } = companyOf(record);
      const placed = { at, record };
      if (id !== undefined) addTo(grouped.#byId, id, placed);
      else if (name !== undefined) addTo(grouped.#byName, normaliseName(name), placed);
    });
    return grouped;
  }

  /** In the order of the records. */
  of({ id, name }: Company): R[] {
    const byId = (id !== undefined && this.#byId.get(id)) || [];
    const byName = this.#byName.get(normaliseName(name)) ?? [];
    return [...byId, ...byName].sort((a, b) => a.at - b.at).map(({ record }) => record);
  }
}

interface Placed<R> {
  at: number;
  record: R;
}
