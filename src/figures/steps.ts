/** Computations over thousands of records in steps, between which the caller can do other work. */

/** Yields between two steps, and returns the result. */
export type Steps<T> = Generator<undefined, T>;

export type ResultOf<F extends (...args: never) => Steps<unknown>> =
  ReturnType<F> extends Steps<infer T> ? T : never;

const itemsInStep = 50;

export function* forEachStep<T>(items: Iterable<T>, work: (item: T) => void): Steps<void> {
  let at = 0;
  for (const item of items) {
    work(item);
    at += 1;
    if (at % itemsInStep === 0) yield;
  }
}

export const filterSteps = <T>(items: readonly T[], test: (item: T) => boolean): Steps<T[]> =>
  flatMapSteps(items, (item) => (test(item) ? [item] : []));

export function* flatMapSteps<T, U>(
  items: readonly T[],
  work: (item: T) => readonly U[],
): Steps<U[]> {
  const results: U[] = [];
  yield* forEachStep(items, (item) => {
    for (const result of work(item)) results.push(result);
  });
  return results;
}

/** Of several records with one id, the last. */
export function* recordsById<R extends { id?: string }>(
  records: readonly R[],
): Steps<Map<string | undefined, R>> {
  const byId = new Map<string | undefined, R>();
  yield* forEachStep(records, (record) => byId.set(record.id, record));
  return byId;
}

/** A sorted copy; equal items keep their order. */
export function* sortSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<readonly T[]> {
  if (items.length <= itemsSortedInStep) return items.toSorted(compare);
  const middle = Math.ceil(items.length / 2);
  const first = yield* sortSteps(items.slice(0, middle), compare);
  yield;
  const second = yield* sortSteps(items.slice(middle), compare);
  return yield* merged(first, second, compare);
}

const itemsSortedInStep = 1_000;

function* merged<T>(
  one: readonly T[],
  other: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<T[]> {
  const sorted: T[] = [];
  let at = 0;
  yield* forEachStep(one, (item) => {
    for (let next = other[at]; next !== undefined && compare(next, item) < 0; next = other[at]) {
      sorted.push(next);
      at += 1;
    }
    sorted.push(item);
  });
  return sorted.concat(other.slice(at));
}

/** Runs all steps at once. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
