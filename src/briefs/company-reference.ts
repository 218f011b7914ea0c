/** Whose a record is. */
import type { ApiRecord, Company } from '../api/records.ts';
import { compact, type Named, nonBlank, normaliseName } from './naming.ts';

/** By the company's id; by its name where a record carries no id of a company. */
export function belongsTo(record: ApiRecord, company: Company): boolean {
  const { id, name } = companyOf(record);
  if (id !== undefined) return id === company.id;
  return name !== undefined && normaliseName(name) === normaliseName(company.name);
}

/** The company that a record names, nested or beside; empty when it names none. */
export function companyOf(record: ApiRecord): Named {
  const { company, companyId, companyName } = record;
  const ref: Partial<Record<string, unknown>> =
    typeof company === 'object' && company !== null ? { ...company } : {};
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' ? nonBlank(value) : undefined;
  return compact({
    id: text(ref.id) ?? text(companyId),
    name: text(ref.name) ?? text(companyName),
  });
}
