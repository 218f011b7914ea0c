import { findUnknownStages } from '../../changes/stages.ts';
import { environmentName } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import { type ApiError, ignoreApiError, isApiError } from '../../service/errors.ts';
import { reservedOf } from '../../service/traffic/budget.ts';
import type { Prober, Probes, ReportedBudget } from './prober.ts';
import { checkAs, type DoctorCheck, notTried, quoted } from './report.ts';

const address = checkAs('address', 'address');
const key = checkAs('key', 'key');

/** Checks address and key by the first answers. */
export function checkAddress(baseUrl: URL, probes: Probes): DoctorCheck[] {
  const all = [...probes.values()];
  const allowed = all.find(({ error }) => !error || isApiError(error, 'not-permitted'));
  const first = allowed ?? all.find(({ error }) => isApiError(error, 'key-refused'));
  if (!first) return unreachable(baseUrl, all[0]?.error);
  const answers = address('pass', `${baseUrl.href} answers in ${first.durationMs} ms`);
  if (allowed) return [answers, key('pass', 'accepted')];
  const refused = `not accepted (status ${first.error?.facts.status})`;
  return [answers, key('fail', refused, describeError(first.error, environmentName))];
}

function unreachable(baseUrl: URL, error: ApiError | undefined): DoctorCheck[] {
  const remedy = error === undefined ? undefined : describeError(error, environmentName);
  const answers = isApiError(error, 'rate-limited')
    ? address('pass', `${baseUrl.href} answers`)
    : address('fail', `${baseUrl.href} does not answer as the API`, remedy);
  return [answers, key('skip', notTried)];
}

export function checkBudget(reported: ReportedBudget, configured: number): DoctorCheck {
  const { remaining, limit = configured, retryAfter } = reported;
  const budget = checkAs('budget', 'rate budget');
  if (retryAfter !== undefined)
    return budget('fail', `exhausted for ${retryAfter} s`, 'Run doctor again after that');
  if (remaining === undefined)
    return budget('skip', `not reported; ${configured} requests in ten minutes are assumed`);
  const left = `${remaining} of ${limit} requests remaining in these ten minutes`;
  if (remaining <= reservedOf(Math.min(configured, limit))) {
    const remedy = 'They are reserved for single records and pages: ask again in ten minutes';
    return budget('warn', left, remedy);
  }
  if (limit === configured) return budget('pass', left);
  const remedy = `Set ${environmentName('rateLimit')}=${limit}`;
  return budget('warn', `${left}; ${configured} are configured`, remedy);
}

/** Checks by one page of opportunities that every barred stage is in use: a misspelt one has no effect. */
export async function checkStages(
  { pages, call }: Prober,
  words: readonly string[],
): Promise<DoctorCheck[]> {
  if (words.length === 0) return [];
  const stages = checkAs('stages', 'barred stages');
  const page = await pages.page('opportunity', { size: 100 }, call).catch(ignoreApiError());
  if (!page) return [stages('skip', 'no opportunity could be read')];
  const { unknown, stages: known } = await findUnknownStages(page.records, words);
  if (unknown.length === 0) return [stages('pass', `each is in use: ${quoted(words)}`)];
  const remedy = `Check the spelling in ${environmentName('barredStages')}; these stages are in use: ${quoted(known)}`;
  const none = `none of ${page.records.length} opportunities is in ${quoted(unknown)}`;
  return [stages('warn', none, remedy)];
}
