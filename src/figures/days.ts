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

/**
 * The day of an ISO 8601 date or time; `undefined` if there is none or it cannot be read. Reads characters, because the
 * briefs call it several times for each record.
 */
export function dayOf(time: string | undefined): Day | undefined {
  if (time === undefined || time[4] !== '-' || time[7] !== '-') return undefined;
  const [year, month, day] = [digitsAt(time, 0, 4), digitsAt(time, 5, 2), digitsAt(time, 8, 2)];
  const isDay = !Number.isNaN(year) && day >= 1 && day <= daysInMonth(year, month);
  return isDay && Number.isNaN(digitsAt(time, dayLength, 1)) ? time.slice(0, dayLength) : undefined;
}

/** The number that so many digits are; NaN where there is anything else. */
function digitsAt(text: string, from: number, count: number): number {
  let number = 0;
  for (let at = from; at < from + count; at++) {
    const digit = text.charCodeAt(at) - zeroCode;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

const zeroCode = '0'.charCodeAt(0);

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const february = 2;

/** 0 for a month that does not exist. */
function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === february && isLeap ? 29 : (monthLengths[month - 1] ?? 0);
}

/** Whole days from one day to another; negative if `to` is the earlier one. */
export function daysBetween(from: Day, to: Day): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / dayInMs);
}

/** Whole days since a day; 0 for a future day. */
export function daysSince(day: Day, today: Day): number {
  return Math.max(0, daysBetween(day, today));
}

export function addDays(day: Day, days: number): Day {
  return utcDay(new Date(Date.parse(day) + days * dayInMs));
}

/** The latest of the days that can be read. */
export function latestDay(...times: (string | undefined)[]): Day | undefined {
  let latest: Day | undefined;
  for (const time of times) {
    const day = dayOf(time);
    if (day && (!latest || day > latest)) latest = day;
  }
  return latest;
}

/** Whether a day lies in a window, both ends included; a missing end is open. */
export function within(day: Day, from: string | undefined, to: string | undefined): boolean {
  const first = dayOf(from);
  const last = dayOf(to);
  return (!first || first <= day) && (!last || day <= last);
}

/** @throws RangeError if `day` is not a day; `what` names it in the message. */
export function requireDay(day: string, what: string): Day {
  const read = dayOf(day);
  if (!read) throw new RangeError(`${what} must be a day as YYYY-MM-DD, not "${day}"`);
  return read;
}
