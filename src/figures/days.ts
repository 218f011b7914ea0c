/**
 * Days as the briefs count them. The day of a date or time is the day as written (its first ten
 * characters): no time zone is converted, so a close date never slips to the day before.
 */

/** A calendar day, `YYYY-MM-DD`. */
export type Day = string;

/** The day of a moment in UTC. */
export const utcDay = (time: Date): Day => time.toISOString().slice(0, dayLength);

const dayLength = 'YYYY-MM-DD'.length;
const dayInMs = 86_400_000;

const dayForm = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)/;

/** The day of an ISO 8601 date or time; `undefined` if there is none or it cannot be read. */
export function dayOf(time: string | undefined): Day | undefined {
  if (time === undefined || !dayForm.test(time)) return undefined;
  const day = time.slice(0, dayLength);
  // JavaScript takes February 30 for March 2.
  return day.slice(-2) <= '28' || utcDay(new Date(day)) === day ? day : undefined;
}

/** Whole days from one day to another; negative if `to` is the earlier one. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / dayInMs);
}

/** Whole days from one time to another, 0 if negative; `undefined` when either day is missing. */
export function daysFromTo(from: string | undefined, to: string | undefined): number | undefined {
  const [first, last] = [dayOf(from), dayOf(to)];
  return first && last ? Math.max(0, daysBetween(first, last)) : undefined;
}

export function addDays(day: Day, days: number): Day {
  return utcDay(new Date(Date.parse(day) + days * dayInMs));
}

export const latestDay = (...times: (string | undefined)[]): Day | undefined =>
  times
    .flatMap((time) => dayOf(time) ?? [])
    .sort()
    .at(-1);

/** Whether a day lies in a window, both ends included; a missing end is open, and a missing day in no window. */
export function within(
  day: Day | undefined,
  from: string | undefined,
  to: string | undefined,
): boolean {
  if (day === undefined) return false;
  const first = dayOf(from);
  const last = dayOf(to);
  return (!first || first <= day) && (!last || day <= last);
}

/** A day as a person says it: "Mon, 15 Jun 2026". */
export const dayWords = (day: Day): string =>
  new Date(day).toLocaleDateString('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });

/** In the order in which a person asks for them. */
export const contractStates = ['running', 'starts later', 'ended'] as const;

/** A contract item runs from its first through its last day; without these it has begun, or does not end. */
export function contractState(
  { startDate, endDate }: { startDate?: string; endDate?: string },
  day: Day,
): (typeof contractStates)[number] {
  if (within(day, startDate, endDate)) return 'running';
  return (dayOf(endDate) ?? day) < day ? 'ended' : 'starts later';
}

/** The middle of some numbers, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** `places` decimals, half up; `undefined` without any. */
export function meanDays(days: readonly number[], places = 0): number | undefined {
  if (days.length === 0) return undefined;
  const sum = days.reduce((total, one) => total + one, 0);
  return Math.round((sum * 10 ** places) / days.length) / 10 ** places;
}

/** `n`: how many are known. */
export const daySpread = (days: readonly number[]) =>
  days.length === 0 ? undefined : { median: median(days), mean: meanDays(days, 1), n: days.length };
