/**
 * Exact decimal numbers: integers with a scale while these are exact, which covers money, and a library's numbers of any
 * length beyond. Both give the same results; integers are computed ten times as fast.
 */
import BigJs, { type Big } from 'big.js';

/** An own constructor, so that settings made elsewhere do not affect these sums. */
const Big20 = BigJs();
const maxPlaces = 20;
Big20.DP = maxPlaces;
Big20.RM = Big20.roundHalfUp;

/** Exact as numbers. */
const powers = Array.from({ length: maxPlaces + 1 }, (_, exponent) => 10 ** exponent);
const powerOf = (exponent: number): number => powers[exponent] ?? Number.NaN;
/** Integers of 15 digits and their quotients by a power of ten are distinct numbers. */
const maxParsed = 1e15;

/** A decimal number of any length. Immutable. */
export class Decimal {
  /** The value is `integer / 10 ** places`; NaN where `big` is the value. */
  readonly #integer: number;
  readonly #places: number;
  readonly #big: Big | undefined;

  private constructor(integer: number, places: number, big?: Big) {
    this.#integer = integer;
    this.#places = places;
    this.#big = big;
  }

  /** The decimal that a number is written as. It must be finite. */
  static of(value: number): Decimal {
    for (let places = 0; places <= 6; places++) {
      const power = powerOf(places);
      const integer = Math.round(value * power);
      if (Math.abs(integer) >= maxParsed) break;
      if (integer / power === value) return new Decimal(integer, places);
    }
    return Decimal.#ofBig(new Big20(value));
  }

  static #ofBig(big: Big): Decimal {
    return new Decimal(Number.NaN, 0, big);
  }

  /** The decimal if it is exact as an integer with a scale. */
  static #exact(integer: number, places: number): Decimal | undefined {
    return Number.isSafeInteger(integer) && places <= maxPlaces
      ? new Decimal(integer, places)
      : undefined;
  }

  plus(other: Decimal | number): Decimal {
    const that = toDecimal(other);
    return this.#sum(that, 1) ?? Decimal.#ofBig(this.#toBig().plus(that.#toBig()));
  }

  minus(other: Decimal | number): Decimal {
    const that = toDecimal(other);
    return this.#sum(that, -1) ?? Decimal.#ofBig(this.#toBig().minus(that.#toBig()));
  }

  #sum(that: Decimal, sign: 1 | -1): Decimal | undefined {
    const places = Math.max(this.#places, that.#places);
    // A safe sum is exact: at most one of the two is scaled, and an even integer is exact up to 2 ** 54.
    return Decimal.#exact(this.#scaled(places) + sign * that.#scaled(places), places);
  }

  times(other: Decimal | number): Decimal {
    const that = toDecimal(other);
    return (
      Decimal.#exact(this.#integer * that.#integer, this.#places + that.#places) ??
      Decimal.#ofBig(this.#toBig().times(that.#toBig()))
    );
  }

  /** To 20 decimals, half away from zero. @throws Error if the divisor is 0 */
  div(other: Decimal | number): Decimal {
    const that = toDecimal(other);
    const isHundred = that.#integer === 100 && that.#places === 0;
    const exact = isHundred && Decimal.#exact(this.#integer, this.#places + 2);
    return exact || Decimal.#ofBig(this.#toBig().div(that.#toBig()));
  }

  abs(): Decimal {
    if (this.#big) return Decimal.#ofBig(this.#big.abs());
    return new Decimal(Math.abs(this.#integer), this.#places);
  }

  /** Half away from zero. */
  round(places: number): Decimal {
    if (this.#big) return Decimal.#ofBig(this.#big.round(places));
    if (this.#places <= places) return this;
    const power = powerOf(this.#places - places);
    const rest = this.#integer % power;
    const whole = (this.#integer - rest) / power;
    const up = 2 * Math.abs(rest) >= power ? Math.sign(rest) : 0;
    return new Decimal(whole + up, places);
  }

  cmp(other: Decimal | number): -1 | 0 | 1 {
    const that = toDecimal(other);
    if (this.#big || that.#big) return this.#toBig().cmp(that.#toBig());
    const places = Math.max(this.#places, that.#places);
    // At most one of the two is scaled. Where that rounds it, it is beyond every safe integer.
    const [one, two] = [this.#scaled(places), that.#scaled(places)];
    if (one === two) return 0;
    return one < two ? -1 : 1;
  }

  eq(other: Decimal | number): boolean {
    return this.cmp(other) === 0;
  }

  lt(other: Decimal | number): boolean {
    return this.cmp(other) < 0;
  }

  lte(other: Decimal | number): boolean {
    return this.cmp(other) <= 0;
  }

  gt(other: Decimal | number): boolean {
    return this.cmp(other) > 0;
  }

  gte(other: Decimal | number): boolean {
    return this.cmp(other) >= 0;
  }

  /** The nearest number; infinite if there is none. */
  toNumber(): number {
    return this.#big ? this.#big.toNumber() : this.#integer / powerOf(this.#places);
  }

  /** The integer for more decimals; not a safe one where that would not be exact. */
  #scaled(places: number): number {
    return this.#integer * powerOf(places - this.#places);
  }

  #toBig(): Big {
    return this.#big ?? new Big20(this.#integer).div(powerOf(this.#places));
  }
}

const toDecimal = (value: Decimal | number): Decimal =>
  typeof value === 'number' ? Decimal.of(value) : value;
