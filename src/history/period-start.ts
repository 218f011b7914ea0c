import { addDays, type Day, dayOf } from '../figures/days.ts';
import type { Period } from './compare.ts';

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** What `openingDay` understands, for messages. */
export const periodStarts =
  'a date as YYYY-MM-DD, a number of days or weeks as 7d or 2w, a weekday as monday, yesterday, or this_ or last_ with week, month or quarter';

/**
 * A date, a weekday, a week, a month and a quarter start the period; `7d` ago ends the day before it. `last_week`,
 * `last_month` and `last_quarter` are over: they end where the present one starts.
 * @returns without `closing` it lasts until today; undefined for a text that names no period
 */
export function namedPeriod(
  since: string,
  today: Day,
): (Pick<Period, 'opening'> & Partial<Period>) | undefined {
  const text = since
    .trim()
    .toLowerCase()
    .replace(/[ -](?=[a-z])/g, '_');
  const first = firstDay(text, today);
  if (first !== undefined) return { opening: addDays(first, -1) };
  const [, which, unit] = /^(this|last)_(week|month|quarter)$/.exec(text) ?? [];
  if (unit !== undefined) {
    const start = startOf(unit, today);
    const before = addDays(start, -1);
    if (which === 'this') return { opening: before };
    return { opening: addDays(startOf(unit, before), -1), closing: before };
  }
  const [, count, span] = /^(\d{1,4})([dw])$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  return { opening: addDays(today, -Number(count) * (span === 'w' ? 7 : 1)) };
}

function firstDay(text: string, today: Day): Day | undefined {
  if (dayOf(text) === text) return text;
  if (text === 'today') return today;
  if (text === 'yesterday') return addDays(today, -1);
  const weekday = weekdays.indexOf(text);
  return weekday >= 0 ? latest(weekday, today) : undefined;
}

/** The latest such weekday, today included. */
function latest(weekday: number, today: Day): Day {
  const now = new Date(today).getUTCDay();
  return addDays(today, -((now - weekday + weekdays.length) % weekdays.length));
}

/** The first day of the week, month or quarter of a day. */
function startOf(unit: string, day: Day): Day {
  if (unit === 'week') return latest(weekdays.indexOf('monday'), day);
  const months = unit === 'quarter' ? 3 : 1;
  const [year = '', month] = day.split('-');
  const first = Math.floor((Number(month) - 1) / months) * months + 1;
  return `${year}-${String(first).padStart(2, '0')}-01`;
}
