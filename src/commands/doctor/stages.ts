import { findUnknownStages } from '../../changes/unknown-stages.ts';
import { environmentName } from '../../config.ts';
import type { ServicePages } from '../../reading/service-pages.ts';
import type { ApiRecord } from '../../service/records/records.ts';
import { checkAs, type DoctorCheck, quoted } from './check.ts';
import { unlessApiError } from './paging.ts';
import type { Prober } from './prober.ts';

const pageSize = 100;
/** Usually enough to find every stage in use. */
const maxPages = 5;

/** Checks that every barred stage is in use: a misspelt one has no effect. */
export async function checkStages(
  prober: Prober,
  words: readonly string[],
  pages: ServicePages,
): Promise<DoctorCheck[]> {
  if (words.length === 0) return [];
  const { records, isWhole } = await readOpportunities(prober, pages);
  if (records.length === 0) return [stages('skip', 'no opportunity could be read')];
  const { unknown, stages: known } = await findUnknownStages(records, words);
  if (unknown.length === 0) return [stages('pass', `each is in use: ${quoted(words)}`)];
  const among = isWhole ? 'no opportunity is' : `none of ${records.length} opportunities is`;
  const remedy = `Check the spelling in ${environmentName('barredStages')}; these stages are in use: ${quoted(known)}`;
  return [stages('warn', `${among} in ${quoted(unknown)}`, remedy)];
}

const stages = checkAs('stages', 'barred stages');

async function readOpportunities(
  prober: Prober,
  pages: ServicePages,
): Promise<{ records: readonly ApiRecord[]; isWhole: boolean }> {
  const records: ApiRecord[] = [];
  let total = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < maxPages && records.length < total && prober.canAsk; attempt++) {
    const query = { size: pageSize, from: records.length };
    const page = await pages.page('opportunity', query, prober.call).catch(unlessApiError);
    if (!page || page.records.length === 0) break;
    records.push(...page.records);
    total = page.total ?? total;
    if (pages.profile('opportunity').offset === 'none') break;
  }
  return { records, isWhole: records.length >= total };
}
