/** Whether a record belongs to a company. */
import type { ApiRecord, Company } from '../records/records.ts';
import { compact, type Named, nonBlank, normaliseName } from './naming.ts';

/** Compares by the company's id, or by name if the record has no company id. */
export function belongsTo(record: ApiRecord, company: Company): boolean {
  const { id, name } = companyOf(record);
  if (id !== undefined) return id === company.id;
  return name !== undefined && normaliseName(name) === normaliseName(company.name);
}

/** The company of a record, from its nested record or its own fields; empty if it has none. */
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
