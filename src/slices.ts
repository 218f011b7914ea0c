// Cuts long computations into slices, so that other calls and health checks are answered in between.

/** Duration of a slice, in milliseconds. */
const sliceMs = 10;

/** Computations that wait for a slice. One of them continues in each turn of the event loop. */
const waiting: (() => void)[] = [];
/** When the slice of this turn began; `undefined` if nothing was computed in it. */
let sliceStart: number | undefined;

function beginSlice(): number {
  setImmediate(beginTurn);
  sliceStart = performance.now();
  return sliceStart;
}

function beginTurn(): void {
  sliceStart = undefined;
  const next = waiting.shift();
  if (!next) return;
  beginSlice();
  next();
}

const isSliceOver = (): boolean => performance.now() - (sliceStart ?? beginSlice()) > sliceMs;

/** Resolves in a later turn of the event loop, which has read from all sockets meanwhile. */
function nextSlice(): Promise<void> {
  if (sliceStart === undefined) beginSlice();
  return new Promise((resolve) => waiting.push(resolve));
}

/** Resolves when there is time for a computation that takes less than a slice. */
export async function waitForSlice(): Promise<void> {
  if (isSliceOver()) await nextSlice();
}

/**
 * Runs a computation that has steps in slices, and returns its result.
 * @throws what the computation throws
 */
export async function runInSlices<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    if (isSliceOver()) await nextSlice();
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Calls `work` for each item, in order and in slices. The items must not change meanwhile.
 * @throws what `work` throws
 */
export async function forEachInSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void,
): Promise<void> {
  for (const item of items) {
    if (isSliceOver()) await nextSlice();
    work(item);
  }
}
