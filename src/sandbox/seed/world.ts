import type { Json, Row } from '../json.ts';
import { cents, Random } from './random.ts';
import { type Profile, profiles } from './words.ts';

const DAY = 86_400_000;

/** The tenant being generated: shared state of the generators, and the rows so far. */
export class World {
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

  add<T extends Row>(table: string, rows: T[]): T[] {
    const known = this.rows.get(table);
    if (known) known.push(...rows);
    else this.rows.set(table, [...rows]);
    return rows;
  }

  /** Records that a row has a flaw on purpose, so that a test can find it. */
  mark(resource: string, row: Row, kind: string): void {
    this.add('awkward', [{ resource, id: row.id ?? null, kind }]);
  }

  /** The date so many days from today, `YYYY-MM-DD`. */
  day(offset: number): string {
    return new Date(this.today.getTime() + offset * DAY).toISOString().slice(0, 10);
  }

  /** A time on a working day so many days from today, never in the future for today. ISO 8601, UTC. */
  moment(random: Random, offset: number): string {
    const midnight = Date.parse(this.day(offset));
    const time = midnight + random.int(7 * 3600, 18 * 3600) * 1000;
    return new Date(offset > 0 ? time : Math.min(time, this.today.getTime())).toISOString();
  }
}

/** The number in a column; 0 if it is missing or text. */
export function amountOf(value: Json | undefined): number {
  return cents(Number(value ?? 0) || 0);
}
