import { describe, expect, test } from 'vitest';
import { forEachInSlices, waitForSlice } from '../../src/slices.ts';

/** Takes longer than a slice. */
function work(): void {
  const end = performance.now() + 15;
  while (performance.now() < end);
}

describe('long computations', () => {
  test('handle their items in order, and let others run in between', async () => {
    const handled: (number | string)[] = [];
    setImmediate(() => handled.push('other'));
    await forEachInSlices([1, 2, 3, 4], (item) => {
      handled.push(item);
      work();
    });
    expect(handled.filter((item) => item !== 'other')).toEqual([1, 2, 3, 4]);
    expect(handled.indexOf('other')).toBeLessThan(4);
  });

  test('run one at a time in each turn of the event loop', async () => {
    const turns: number[] = [];
    let turn = 0;
    let ended = false;
    const countTurns = () => {
      turn += 1;
      if (!ended) setImmediate(countTurns);
    };
    countTurns();
    const computation = () =>
      forEachInSlices([1, 2, 3], () => {
        turns.push(turn);
        work();
      });
    await Promise.all([computation(), computation(), computation()]);
    ended = true;
    expect(new Set(turns).size).toBe(turns.length);
  });

  test('of one piece wait until the slice of another is over', async () => {
    let turn = 0;
    // Until a turn in which nothing was computed.
    for (let at = 0; at < 2; at++) await new Promise(setImmediate);
    setImmediate(() => {
      turn += 1;
    });
    await waitForSlice();
    work();
    expect(turn).toBe(0);
    await waitForSlice();
    expect(turn).toBe(1);
  });

  test('end with the error of an item', async () => {
    const failing = forEachInSlices([1], () => {
      throw new Error('of the item');
    });
    await expect(failing).rejects.toThrow('of the item');
    await forEachInSlices([1], () => {});
  });
});
