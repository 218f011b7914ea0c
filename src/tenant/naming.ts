/** Names on the way out: the references of records, completed from the collections that the caller may read. */
import { filterSteps } from '../figures/steps.ts';
import {
  completeReferences,
  type KnownRecords,
  lacksName,
  NamesIn,
  namingResources,
} from '../names/references.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { runInSlices } from '../slices.ts';
import type { Tenant } from './tenant.ts';

/**
 * Records with the missing names and ids of their references, as far as `known` contains them: copies of those that
 * lack any, and the same list where none does. Made once for these readings.
 * @param known only collections that the caller may read
 */
export const nameReferences = <R extends Resource>(
  tenant: Tenant,
  resource: R,
  records: readonly RecordOf[R][],
  known: KnownRecords,
): Promise<readonly RecordOf[R][]> =>
  tenant.derived.version(
    [records, ...namingResources.map((each) => known[each])],
    'named',
    async () => {
      const lacks = (record: RecordOf[R]) => lacksName(resource, record);
      const incomplete = await runInSlices(filterSteps(records, lacks));
      if (incomplete.length === 0) return records;
      return runInSlices(completeReferences(resource, records, await namesIn(tenant, known)));
    },
  );

async function namesIn(tenant: Tenant, known: KnownRecords): Promise<NamesIn[]> {
  const found = namingResources.map((resource) => {
    const records = known[resource];
    if (!records) return undefined;
    const make = () => runInSlices(NamesIn.of(resource, records));
    return tenant.derived.get([records], 'names in references', make, ({ bytes }) => bytes);
  });
  return (await Promise.all(found)).filter((names) => names !== undefined);
}
