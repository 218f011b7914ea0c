import { environmentName } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import { type ApiError, isApiError } from '../../service/errors.ts';
import { checkAs, type DoctorCheck, notTried } from './check.ts';
import type { Probes, ServiceHeaders } from './prober.ts';

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

const lowBudgetShare = 0.1;

export function checkBudget(
  { remaining, limit, retryAfter }: ServiceHeaders,
  configured: number,
): DoctorCheck {
  const budget = checkAs('budget', 'rate budget');
  if (retryAfter !== undefined)
    return budget('fail', `exhausted for ${retryAfter} s`, 'Run doctor again after that');
  if (remaining === undefined) {
    const assumed = `${configured} requests in ten minutes are assumed`;
    return budget('skip', `not reported by the service; ${assumed}`);
  }
  const left = `${remaining} of ${limit ?? configured} requests remaining in these ten minutes`;
  if (limit !== undefined && limit !== configured) {
    const remedy = `Set ${environmentName('rateLimit')}=${limit}`;
    return budget('warn', `${left}; ${configured} are configured`, remedy);
  }
  if (remaining >= configured * lowBudgetShare) return budget('pass', left);
  return budget('warn', left, 'Other programs of this tenant share this budget');
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

export function checkClock({ clockAheadMs: ahead }: ServiceHeaders): DoctorCheck {
  const clock = checkAs('clock', 'clock');
  if (ahead === undefined) return clock('skip', 'the service sends no Date header');
  const offset = Math.abs(ahead);
  if (offset < minuteMs) return clock('pass', 'in sync with the service');
  const duration =
    offset < 2 * hourMs
      ? `${Math.round(offset / minuteMs)} minutes`
      : `${Math.round(offset / hourMs)} hours`;
  const detail = `${duration} ${ahead > 0 ? 'behind' : 'ahead of'} the service`;
  const remedy = 'Correct the clock: stale and overdue depend on it';
  return clock(offset < hourMs ? 'warn' : 'fail', detail, remedy);
}
