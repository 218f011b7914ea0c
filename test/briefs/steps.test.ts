import { describe, expect, test } from 'vitest';
import {
  filterSteps,
  flatMapSteps,
  runSteps,
  type Steps,
  sortSteps,
} from '../../src/figures/steps.ts';

/** Unsorted, with many equal ranks. */
const items = Array.from({ length: 5_000 }, (_, at) => ({ at, rank: (at * 7919) % 101 }));

describe('a computation in steps', () => {
  const steps: Record<string, [steps: () => Steps<unknown>, expected: unknown]> = {
    sorts: [
      () => sortSteps(items, (a, b) => a.rank - b.rank),
      items.toSorted((a, b) => a.rank - b.rank),
    ],
    filters: [
      () => filterSteps(items, ({ rank }) => rank > 50),
      items.filter(({ rank }) => rank > 50),
    ],
    maps: [
      () => flatMapSteps(items, ({ at, rank }) => (rank > 50 ? [at, rank] : [])),
      items.flatMap(({ at, rank }) => (rank > 50 ? [at, rank] : [])),
    ],
  };

  test.each(Object.keys(steps))('%s as at once, and pauses often', (name) => {
    const [start, expected] = steps[name] ?? [];
    if (!start) throw new Error(name);
    expect(runSteps(start())).toEqual(expected);
    let pauses = 0;
    for (const running = start(); !running.next().done; ) pauses += 1;
    expect(pauses).toBeGreaterThan(50);
  });

  test('pauses after every 50 items', () => {
    const pausesOf = (count: number) => [...filterSteps(items.slice(0, count), () => true)].length;
    expect([49, 50, 99, 100].map(pausesOf)).toEqual([0, 1, 1, 2]);
  });
});
