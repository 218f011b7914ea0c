/** Answers that are computed once: the same question about the same records gets the same answer. */
import type { Resource } from '../service/records/records.ts';
import type { CollectionsRead } from '../tenant/read-collections.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { today } from './answers.ts';
import type { Answer } from './define-tool.ts';

/**
 * The answer of a tool to a question about whole collections, computed once a day for each reading of these. It must
 * depend on the question, the day and `read` alone, and hold the rows that it can show, not all records.
 */
export function memoizedAnswer<R extends Resource>(
  tenant: Tenant,
  read: CollectionsRead<R>,
  question: { tool: string } & Record<string, unknown>,
  compute: () => Promise<Answer>,
): Promise<Answer> {
  const name = JSON.stringify([question, today(), read.coverage, read.omitted]);
  return tenant.derived.get(read.readings, name, compute, bytesOf);
}

/** As of the records in the cache. */
const bytesOf = ({ data }: Answer): number => 2 * JSON.stringify(data).length;
