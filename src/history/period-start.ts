import { addDays, type Day, dayOf } from '../figures/days.ts';

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const monday = 1;
const daysPerUnit = { d: 1, w: 7 } as const;

/** What `openingDay` understands, for messages. */
export const periodStarts =
  'a date as YYYY-MM-DD, a number of days or weeks as 7d or 2w, a weekday as monday, yesterday, this_week, last_week, this_month or last_month';

/**
 * The last day before a period, whose end is the state that the period starts from. A date, a weekday, a week and a month
 * start the period; `7d` ago ends the day before it.
 * @returns undefined for a text that names no start
 */
export function openingDay(since: string, today: Day): Day | undefined {
  const text = since
    .trim()
    .toLowerCase()
    .replace(/[ -](?=[a-z])/g, '_');
  const first = firstDay(text, today);
  if (first !== undefined) return addDays(first, -1);
  const [, count, unit] = /^(\d{1,4})([dw])$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  return addDays(today, -Number(count) * daysPerUnit[unit === 'w' ? 'w' : 'd']);
}

function firstDay(text: string, today: Day): Day | undefined {
  if (dayOf(text) === text) return text;
  const weekday = weekdays.indexOf(text);
  if (weekday >= 0) return latest(weekday, today);
  const starts: Readonly<Record<string, () => Day>> = {
    today: () => today,
    yesterday: () => addDays(today, -1),
    this_week: () => latest(monday, today),
    last_week: () => addDays(latest(monday, today), -weekdays.length),
    this_month: () => firstOfMonth(today),
    last_month: () => firstOfMonth(addDays(firstOfMonth(today), -1)),
  };
  return Object.hasOwn(starts, text) ? starts[text]?.() : undefined;
}

/** The latest such weekday, today included. */
function latest(weekday: number, today: Day): Day {
  const now = new Date(today).getUTCDay();
  return addDays(today, -((now - weekday + weekdays.length) % weekdays.length));
}

const firstOfMonth = (day: Day): Day => `${day.slice(0, 'YYYY-MM'.length)}-01`;
