import { expect, test } from 'vitest';
import type { Pages } from '../../src/reading/page-reader.ts';
import { profileOf } from '../../src/reading/profile.ts';
import { readCollection } from '../../src/reading/walk.ts';
import type { Call } from '../../src/service/call.ts';
import type { Page } from '../../src/service/page.ts';
import type { RecordOf, Resource } from '../../src/service/records/records.ts';

/** Which requests a walk sends while responses have arrived that are not read yet. */

const call: Call = {
  signal: new AbortController().signal,
  deadline: Number.MAX_SAFE_INTEGER,
  purpose: 'walk',
};

/** A service of 2,000 records, whose responses arrive and are read when the test says so. */
class HeldPages implements Pages {
  /** Offsets of the requests, in the order in which they were sent. */
  readonly sent: number[] = [];
  readonly #arrivals = new Map<number, () => void>();
  readonly #readings = new Map<number, () => void>();

  ready = async () => {};
  profile = (resource: Resource) => profileOf(resource, { pageParam: 'from' });
  learnOffset = async () => false;
  confirmOffset = () => {};

  page<R extends Resource>(
    _: R,
    { from = 0, size }: { from?: number | undefined; size: number },
    { slot }: Call,
  ): Promise<Page<RecordOf[R]>> {
    this.sent.push(from);
    this.#arrivals.set(from, () => slot?.release());
    const createdAt = '2020-01-01T00:00:00Z';
    const records = Array.from({ length: size }, (__, at) => ({ id: `r${from + at}`, createdAt }));
    const page = { records, total: 2_000 } as unknown as Page<RecordOf[R]>;
    return new Promise((resolve) => this.#readings.set(from, () => resolve(page)));
  }

  async arrive(...offsets: number[]): Promise<number[]> {
    for (const from of offsets) this.#arrivals.get(from)?.();
    return this.#settled();
  }

  async read(...offsets: number[]): Promise<number[]> {
    for (const from of offsets) this.#readings.get(from)?.();
    return this.#settled();
  }

  /** The requests that were sent since it was last called. */
  async #settled(): Promise<number[]> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.sent.splice(0);
  }
}

async function walking() {
  const service = new HeldPages();
  const walk = readCollection(service, 'company', {}, call);
  const steps: Promise<unknown> = (async () => {
    for await (const _ of walk);
  })();
  await service.arrive();
  const parallel = await service.read(0);
  return { service, parallel, steps };
}

test('a request follows each response that has arrived, and two at most wait to be read', async () => {
  const { service, parallel } = await walking();
  expect(parallel).toEqual([100, 200, 300, 400, 500, 600]);
  expect(await service.read(100)).toEqual([700]);
  expect(await service.arrive(200)).toEqual([800]);
  expect(await service.arrive(300)).toEqual([900]);
  expect(await service.arrive(400, 500)).toEqual([]);
  expect(await service.read(200)).toEqual([1_000]);
});

test('no further request is sent before the offset has led to other records', async () => {
  const { service } = await walking();
  expect(await service.arrive(100, 200, 300, 400, 500, 600)).toEqual([]);
  expect(await service.read(100)).toEqual([700, 800, 900]);
});

test('a walk that ran ahead reads every page once', async () => {
  const { service, parallel, steps } = await walking();
  const all = [...parallel];
  for (let pending = parallel; pending.length > 0; ) {
    const sent = [...(await service.arrive(...pending)), ...(await service.read(...pending))];
    all.push(...sent);
    pending = sent;
  }
  await steps;
  expect(all).toEqual(Array.from({ length: 19 }, (_, at) => 100 * (at + 1)));
});
