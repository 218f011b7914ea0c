import type { Json, Row } from '../json.ts';
import { cents, Random } from './random.ts';
import { type Profile, profiles } from './words.ts';

const DAY = 86_400_000;

/** The tenant that is being made: what the parts of the generator share and where they put rows. */
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

  /** How many records there are at the scale asked for, when there are `count` at scale 1. */
  count(count: number): number {
    return Math.max(1, Math.round(count * this.#scale));
  }

  add<T extends Row>(table: string, rows: T[]): T[] {
    const known = this.rows.get(table);
    if (known) known.push(...rows);
    else this.rows.set(table, [...rows]);
    return rows;
  }

  /** Records that a row is awkward on purpose, so that a test can find it. */
  mark(resource: string, row: Row, kind: string): void {
    this.add('awkward', [{ resource, id: row.id ?? null, kind }]);
  }

  /** The date so many days from today, `YYYY-MM-DD`. */
  day(offset: number): string {
    return new Date(this.today.getTime() + offset * DAY).toISOString().slice(0, 10);
  }

  /** A moment of a working day so many days from today; of today, one that is over. ISO 8601, UTC. */
  moment(random: Random, offset: number): string {
    const midnight = Date.parse(this.day(offset));
    const time = midnight + random.int(7 * 3600, 18 * 3600) * 1000;
    return new Date(offset > 0 ? time : Math.min(time, this.today.getTime())).toISOString();
  }
}

/** A number of a row that may still be missing or text; 0 then. */
export function amountOf(value: Json | undefined): number {
  return cents(Number(value ?? 0) || 0);
}
