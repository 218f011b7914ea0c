import { Big } from 'big.js';
import { expect } from 'vitest';

type Amounts = Readonly<Record<string, number>> | undefined;

/** Expects that parts add up to a whole, to the cent, in every currency. */
export function expectSum(parts: readonly Amounts[], whole: Amounts): void {
  const sums = new Map<string, Big>();
  const add = (amounts: Amounts, sign: number) => {
    for (const [currency, amount] of Object.entries(amounts ?? {}))
      sums.set(currency, (sums.get(currency) ?? new Big(0)).plus(new Big(amount).times(sign)));
  };
  for (const part of parts) add(part, 1);
  add(whole, -1);
  expect([...sums].filter(([, sum]) => !sum.eq(0)).map(([currency]) => currency)).toEqual([]);
}
