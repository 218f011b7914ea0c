import { type ApiError, isApiError } from '../../api/errors.ts';
import type { Resource } from '../../api/records.ts';
import { explain } from '../../mcp/wording.ts';
import { type Check, check } from './check.ts';
import type { Probe, Seen, Target } from './prober.ts';

/** What the first answers say of the address and the key. */
export function checkAddress({ baseUrl }: Target, probes: ReadonlyMap<Resource, Probe>): Check[] {
  const all = [...probes.values()];
  const answered = all.find((probe) => probe.page !== undefined);
  const allowed = answered ?? all.find((probe) => isApiError(probe.error, 'not-permitted'));
  const address = allowed ?? all.find((probe) => isApiError(probe.error, 'key-refused'));
  if (!address) return unreachable(baseUrl, all[0]?.error);
  const answers = check(
    'address',
    'address',
    'ok',
    `${baseUrl.href} answers in ${address.took} ms`,
  );
  if (!allowed) return [answers, refusedKey(address.error)];
  return [answers, check('key', 'key', 'ok', 'accepted')];
}

function unreachable(baseUrl: URL, error: ApiError | undefined): Check[] {
  const limited = isApiError(error, 'rate-limited');
  const remedy = error === undefined ? undefined : explain(error);
  return [
    limited
      ? check('address', 'address', 'ok', `${baseUrl.href} answers`)
      : check('address', 'address', 'fail', `${baseUrl.href} does not answer as the API`, remedy),
    check('key', 'key', 'skip', 'not tried'),
  ];
}

const refusedKey = (error: ApiError | undefined): Check =>
  check('key', 'key', 'fail', `not accepted (status ${error?.facts.status})`, explain(error));

/** Whether what one route answered is true of all of them, so that the others need not be asked. */
export const concernsAll = (error: ApiError | undefined): boolean =>
  error !== undefined && !isApiError(error, 'not-permitted', 'no-route', 'key-refused');

const lowShare = 0.1;

export function checkBudget({ remaining, limit, retryAfter }: Seen, configured: number): Check {
  const budget = (status: Check['status'], detail: string, remedy?: string) =>
    check('budget', 'rate budget', status, detail, remedy);
  if (retryAfter !== undefined) {
    return budget('fail', `used up for ${retryAfter} s`, 'Run this again then');
  }
  if (remaining === undefined) {
    return budget('skip', `the service does not say; ${configured} in ten minutes are assumed`);
  }
  const left = `${remaining} of ${limit ?? configured} requests left of these ten minutes`;
  if (limit !== undefined && limit !== configured) {
    return budget('warn', `${left}; ${configured} are configured`, `Set CPQ_RATE_LIMIT=${limit}`);
  }
  const low = remaining < (limit ?? configured) * lowShare;
  if (!low) return budget('ok', left);
  return budget('warn', left, 'Other programs of this tenant draw on it too');
}

const wrongDaysMs = 3_600_000;
const noticeableMs = 60_000;

export function checkClock({ ahead }: Seen): Check {
  if (ahead === undefined)
    return check('clock', 'clock', 'skip', 'the service does not tell the time');
  const apart = Math.abs(ahead);
  if (apart < noticeableMs) return check('clock', 'clock', 'ok', 'in step with the service');
  const detail = `${inWords(apart)} ${ahead > 0 ? 'behind' : 'ahead of'} the service`;
  const status = apart < wrongDaysMs ? 'warn' : 'fail';
  const remedy = 'Set the clock: what counts as stale or overdue depends on it';
  return check('clock', 'clock', status, detail, remedy);
}

const inWords = (ms: number): string =>
  ms < 2 * wrongDaysMs
    ? `${Math.round(ms / 60_000)} minutes`
    : `${Math.round(ms / wrongDaysMs)} hours`;
