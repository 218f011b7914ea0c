import type { Json, Row } from '../json.ts';
import { cents, Random } from './random.ts';
import { type Profile, profiles } from './words.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;

const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The same day, or the Friday before where it is a Saturday or Sunday. The first of January 1970 was a Thursday. */
function workdayAt(midnight: number): number {
  const weekday = (midnight / DAY + 3) % 7;
  return midnight - Math.max(0, weekday - 4) * DAY;
}

/** The tenant being generated: shared state of the generators, and the rows so far. */
export class Dataset {
  readonly tenant: string;
  readonly profile: Profile;
  readonly today: Date;
  readonly random: Random;
  readonly rows = new Map<string, Row[]>();
  readonly #scale: number;

  constructor(tenant: string, profile: number, seed: number, scale: number, today: Date) {
    this.tenant = tenant;
    this.profile = profiles[profile === 1 ? 1 : 0];
    this.today = today;
    this.random = new Random(`${seed}/${tenant}`);
    this.#scale = scale;
  }

  /** The number of records at the requested scale, given `count` at scale 1. */
  count(count: number): number {
    return Math.max(1, Math.round(count * this.#scale));
  }

  /** Days since the creation of that many records, the oldest first. */
  ages(random: Random, count: number, youngest: number, oldest: number): number[] {
    const ages = Array.from({ length: count }, () => random.int(youngest, oldest));
    return ages.sort((one, other) => other - one);
  }

  add<T extends Row>(table: string, rows: T[]): T[] {
    const known = this.rows.get(table);
    if (known) known.push(...rows);
    else this.rows.set(table, [...rows]);
    return rows;
  }

  /** Records that a row has a flaw on purpose, so that a test can find it. */
  mark(resource: string, row: Row, kind: string): void {
    this.add('edge_case', [{ resource, id: row.id ?? null, kind }]);
  }

  /** The date that many days from today, `YYYY-MM-DD`. */
  day(offset: number): string {
    return dateOf(this.#midnight(offset));
  }

  /** The same, or the Friday before if it is at a weekend. */
  workday(offset: number): string {
    return dateOf(workdayAt(this.#midnight(offset)));
  }

  /** A time on a working day that many days from today; for today never in the future. ISO 8601, UTC. */
  moment(random: Random, offset: number): string {
    const midnight = this.#midnight(offset);
    const seconds = random.int(7 * 3600, 18 * 3600) * 1000;
    const time = (offset > 0 ? midnight : workdayAt(midnight)) + seconds;
    const elapsed = this.today.getTime() - midnight;
    const isFuture = offset <= 0 && time > this.today.getTime();
    return new Date(isFuture ? midnight + (seconds % (elapsed + 1)) : time).toISOString();
  }

  /** As `moment`, but never before that time: an hour or so later, if it is the same day. */
  momentAfter(random: Random, offset: number, earliest: string): string {
    const time = this.moment(random, offset);
    const later = Date.parse(earliest) + random.int(5, 150) * MINUTE;
    if (time > earliest) return time;
    return new Date(
      Math.max(Date.parse(earliest), Math.min(later, this.today.getTime())),
    ).toISOString();
  }

  /**
   * Moves a closing day to a typical one: many deals close at the end of a quarter, few in August. Takes and returns days
   * from today.
   */
  closingDay(random: Random, offset: number): number {
    const [early, waits] = [random.int(0, 11), random.chance(0.3)];
    const day = new Date(this.today.getTime() + offset * DAY);
    const month = day.getUTCMonth();
    const monthsLeft = 2 - (month % 3);
    if (!waits && !(month === 7 && early < 7)) return offset;
    const end = Date.UTC(day.getUTCFullYear(), month + monthsLeft + 1, 0);
    return Math.max(offset, (end - this.#midnight(0)) / DAY - early);
  }

  /** The beginning of that day, UTC, in milliseconds since the epoch. */
  #midnight(offset: number): number {
    return (Math.floor(this.today.getTime() / DAY) + offset) * DAY;
  }
}

/** The number in a column; 0 if it is missing or text. */
export function amountOf(value: Json | undefined): number {
  return cents(Number(value ?? 0) || 0);
}
