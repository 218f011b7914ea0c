import { expect, test } from 'vitest';
import { describeWith } from '../support/needs.ts';
import {
  expectEventsKept,
  expectWrittenOnce,
  loadOn,
  replicasAtWork,
  untilMore,
} from '../support/replica-load.ts';
import { callerOf, type Replica } from '../support/replicas.ts';
import type { Upstream } from '../support/upstream/behaviour.ts';

/**
 * Replicas are killed while they read, write and receive webhooks: the others neither lose nor repeat what was
 * begun.
 */

/** Kills them when the service has received the next write, and before it stores it. */
function killedAtWrite(upstream: Upstream, replicas: readonly Replica[]): Promise<void> {
  return new Promise((resolve, reject) => {
    upstream.set({
      onRequest: async (_n, _upstream, { method }) => {
        if (method !== 'PUT') return;
        upstream.set({ onRequest: undefined });
        await Promise.all(replicas.map((replica) => replica.kill())).then(() => resolve(), reject);
      },
    });
  });
}

describeWith('redis', 'replicas that are killed', () => {
  test('one after another and all at once lose no event and write nothing twice', async () => {
    const scene = await replicasAtWork(3);
    const { upstream, replicas } = scene;
    const load = await loadOn(replicas);
    await untilMore(load, { reads: 50, written: 4, events: 30 });
    const turns = [...replicas.map((one) => [one]), replicas, ...replicas.map((one) => [one])];
    for (const some of turns) {
      await killedAtWrite(upstream, some);
      if (some.length < replicas.length) await untilMore(load, { reads: 20, events: 10 });
      await Promise.all(some.map((replica) => replica.start()));
      await untilMore(load, { reads: 20, written: 2, events: 10 });
    }
    await load.stop();
    expect(load.broken()).toBeGreaterThan(0);
    expect(load.refusals.read).toEqual([]);
    await expectEventsKept(load, await callerOf(replicas));
    // Each time at most the write under way has an unknown outcome.
    const open = await expectWrittenOnce(load, scene);
    expect(open).toBeGreaterThan(0);
    expect(open).toBeLessThanOrEqual(turns.length);
  });
});
