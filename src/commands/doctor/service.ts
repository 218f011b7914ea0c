import { environmentName } from '../../config.ts';
import { describeError } from '../../mcp/wording.ts';
import { type ApiError, isApiError } from '../../service/errors.ts';
import type { Resource } from '../../service/records/records.ts';
import { checkAs, type DoctorCheck, notTried } from './check.ts';
import type { Probe, ProbeTarget, ServiceHeaders } from './prober.ts';

const address = checkAs('address', 'address');
const key = checkAs('key', 'key');

/** Checks address and key by the first answers. */
export function checkAddress(
  { baseUrl }: ProbeTarget,
  probes: ReadonlyMap<Resource, Probe>,
): DoctorCheck[] {
  const all = [...probes.values()];
  const answered = all.find((probe) => !probe.error);
  const allowed = answered ?? all.find((probe) => isApiError(probe.error, 'not-permitted'));
  const first = allowed ?? all.find((probe) => isApiError(probe.error, 'key-refused'));
  if (!first) return unreachable(baseUrl, all[0]?.error);
  const answers = address('pass', `${baseUrl.href} answers in ${first.durationMs} ms`);
  return [answers, allowed ? key('pass', 'accepted') : refusedKey(first.error)];
}

function unreachable(baseUrl: URL, error: ApiError | undefined): DoctorCheck[] {
  const limited = isApiError(error, 'rate-limited');
  const remedy = error === undefined ? undefined : describeError(error, environmentName);
  return [
    limited
      ? address('pass', `${baseUrl.href} answers`)
      : address('fail', `${baseUrl.href} does not answer as the API`, remedy),
    key('skip', notTried),
  ];
}

const refusedKey = (error: ApiError | undefined): DoctorCheck =>
  key(
    'fail',
    `not accepted (status ${error?.facts.status})`,
    describeError(error, environmentName),
  );

/** Whether an error affects all routes, so that the others need not be checked. */
export const affectsAllRoutes = (error: ApiError | undefined): boolean =>
  isApiError(error, 'unreachable', 'web-page', 'redirect', 'timed-out', 'rate-limited');

const lowBudgetShare = 0.1;

export function checkBudget(
  { remaining, limit, retryAfter }: ServiceHeaders,
  configured: number,
): DoctorCheck {
  const budget = checkAs('budget', 'rate budget');
  if (retryAfter !== undefined) {
    return budget('fail', `exhausted for ${retryAfter} s`, 'Run doctor again after that');
  }
  if (remaining === undefined) {
    return budget(
      'skip',
      `not reported by the service; ${configured} requests in ten minutes are assumed`,
    );
  }
  const left = `${remaining} of ${limit ?? configured} requests remaining in these ten minutes`;
  if (limit !== undefined && limit !== configured) {
    return budget(
      'warn',
      `${left}; ${configured} are configured`,
      `Set ${environmentName('rateLimit')}=${limit}`,
    );
  }
  const low = remaining < (limit ?? configured) * lowBudgetShare;
  if (!low) return budget('pass', left);
  return budget('warn', left, 'Other programs of this tenant share this budget');
}

const maxClockErrorMs = 3_600_000;
const noticeableMs = 60_000;

export function checkClock({ clockAheadMs: ahead }: ServiceHeaders): DoctorCheck {
  const clock = checkAs('clock', 'clock');
  if (ahead === undefined) return clock('skip', 'the service sends no Date header');
  const offset = Math.abs(ahead);
  if (offset < noticeableMs) return clock('pass', 'in sync with the service');
  const detail = `${describeDuration(offset)} ${ahead > 0 ? 'behind' : 'ahead of'} the service`;
  const status = offset < maxClockErrorMs ? 'warn' : 'fail';
  const remedy = 'Correct the clock: stale and overdue depend on it';
  return clock(status, detail, remedy);
}

const describeDuration = (ms: number): string =>
  ms < 2 * maxClockErrorMs
    ? `${Math.round(ms / 60_000)} minutes`
    : `${Math.round(ms / maxClockErrorMs)} hours`;
