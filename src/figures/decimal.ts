/** Exact decimal numbers of any length. Sums of binary numbers are off by parts of a cent, and cannot be rounded. */

/** Decimals of a quotient. */
const quotientPlaces = 20;
/** Amounts have few decimals, and need not be parsed as text. */
const maxMoneyPlaces = 6;
/** Integers of 15 digits and their quotients by a power of ten are distinct numbers. */
const maxInteger = 1e15;

const powers = Array.from({ length: 2 * quotientPlaces + 1 }, (_, at) => 10n ** BigInt(at));
const powerOf = (exponent: number): bigint => powers[exponent] ?? 10n ** BigInt(exponent);

/** A decimal number. Immutable. */
export class Decimal {
  /** The value is `integer / 10 ** places`. */
  readonly #integer: bigint;
  readonly #places: number;

  private constructor(integer: bigint, places: number) {
    this.#integer = integer;
    this.#places = places;
  }

  /** The decimal that a number is written as. It must be finite. */
  static of(value: number): Decimal {
    for (let places = 0; places <= maxMoneyPlaces; places++) {
      const integer = Math.round(value * 10 ** places);
      if (Math.abs(integer) >= maxInteger) break;
      if (integer / 10 ** places === value) return new Decimal(BigInt(integer), places);
    }
    return Decimal.#parse(String(value));
  }

  static #parse(text: string): Decimal {
    const [digits = '', exponent = '0'] = text.split('e');
    const [whole = '', fraction = ''] = digits.split('.');
    const integer = BigInt(whole + fraction);
    const places = fraction.length - Number(exponent);
    return places < 0 ? new Decimal(integer * powerOf(-places), 0) : new Decimal(integer, places);
  }

  plus(other: Decimal | number): Decimal {
    const that = toDecimal(other);
    const places = Math.max(this.#places, that.#places);
    return new Decimal(this.#scaled(places) + that.#scaled(places), places);
  }

  minus(other: Decimal | number): Decimal {
    const that = toDecimal(other);
    const places = Math.max(this.#places, that.#places);
    return new Decimal(this.#scaled(places) - that.#scaled(places), places);
  }

  times(other: Decimal | number): Decimal {
    const that = toDecimal(other);
    return new Decimal(this.#integer * that.#integer, this.#places + that.#places);
  }

  /** To 20 decimals, half away from zero. @throws RangeError if the divisor is 0 */
  div(other: Decimal | number): Decimal {
    const that = toDecimal(other);
    const dividend = this.#integer * powerOf(quotientPlaces + that.#places);
    const divisor = that.#integer * powerOf(this.#places);
    return new Decimal(roundedQuotient(dividend, divisor), quotientPlaces);
  }

  abs(): Decimal {
    return this.#integer < 0n ? new Decimal(-this.#integer, this.#places) : this;
  }

  /** Half away from zero. */
  round(places: number): Decimal {
    if (this.#places <= places) return this;
    return new Decimal(roundedQuotient(this.#integer, powerOf(this.#places - places)), places);
  }

  cmp(other: Decimal | number): -1 | 0 | 1 {
    const that = toDecimal(other);
    const places = Math.max(this.#places, that.#places);
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

  gt(other: Decimal | number): boolean {
    return this.cmp(other) > 0;
  }

  /** The nearest number; infinite if there is none. */
  toNumber(): number {
    const integer = Number(this.#integer);
    const isExact = Number.isSafeInteger(integer) && this.#places <= quotientPlaces;
    return isExact ? integer / 10 ** this.#places : Number(`${this.#integer}e-${this.#places}`);
  }

  #scaled(places: number): bigint {
    return places === this.#places ? this.#integer : this.#integer * powerOf(places - this.#places);
  }
}

const toDecimal = (value: Decimal | number): Decimal =>
  typeof value === 'number' ? Decimal.of(value) : value;

/** Half away from zero. */
function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const rest = dividend % divisor;
  if (2n * abs(rest) < abs(divisor)) return quotient;
  return dividend < 0n === divisor < 0n ? quotient + 1n : quotient - 1n;
}

const abs = (integer: bigint): bigint => (integer < 0n ? -integer : integer);
