/** Whether a record belongs to a company. */

import { type Named, nonBlank, normaliseName } from '../figures/naming.ts';
import type { ApiRecord, Company } from '../service/records/records.ts';
import { fieldOf } from '../values.ts';

/** Compares by the company's id, or by name if the record has no company id. */
export function belongsTo(record: ApiRecord, company: Company): boolean {
  const { id, name } = companyOf(record);
  if (id !== undefined) return id === company.id;
  return name !== undefined && normaliseName(name) === normaliseName(company.name);
}

/** The company of a record, from its nested record or its own fields; empty if it has none. */
export function companyOf({ company, companyId, companyName }: ApiRecord): Named {
  const id = textOf(fieldOf(company, 'id')) ?? textOf(companyId);
  const name = textOf(fieldOf(company, 'name')) ?? textOf(companyName);
  const named: Named = {};
  if (id !== undefined) named.id = id;
  if (name !== undefined) named.name = name;
  return named;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? nonBlank(value) : undefined;
