import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { localState } from '../../src/state/files/local.ts';
import {
  announcingJournal,
  hangingLimits,
  openOverService,
  type Writer,
  type WriterOptions,
} from '../support/consent.ts';
import type { Row } from '../support/hosts.ts';
import { sample } from '../support/sampling.ts';
import { newFolder } from '../support/shared.ts';
import { type Behaviour, limit, type Upstream, type When } from '../support/upstream/behaviour.ts';
import { type FaultName, faults } from '../support/upstream/faults.ts';
import {
  type WriteFaultName,
  writeFaultNames,
  writeFaults,
} from '../support/upstream/write-faults.ts';

// Concurrent, because the tests mostly wait for the service.
vi.setConfig({ maxConcurrency: 16 });

/** A short limit where the service never answers; elsewhere the default, because the machine may be busy. */
const optionsFor = (fault: string): WriterOptions =>
  /hang|never|stops/.test(fault) ? { tenant: { limits: hangingLimits } } : {};

const stored = (upstream: Upstream, externalId: string): Row[] =>
  upstream.records['/opportunity'].filter((row) => row.externalIdentifier === externalId);
/** What the journal says of the end of the last write: the outcome, and the name in what was read back. */
const journaled = async (it: Writer): Promise<unknown> => {
  const { outcome, after } = (await it.journal()).findLast(({ phase }) => phase === 'done') ?? {};
  return [outcome, (after as Row | undefined)?.name];
};

/** What the answer must say of the outcome: what was broken off, or confirmed and not seen, may still come. */
const mayCome = /^(?:hang|reset|close)-before-reading$|^(?:reset|ok)-without-applying$/;
const outcomeOf = (name: WriteFaultName): string => {
  if (mayCome.test(name)) return 'cannot_tell';
  return writeFaults[name].applied ? 'written' : 'not_written';
};

describe.each([
  ['change', { external_id: 'opp-3', name: 'Named anew', probability: 0.45 }],
  ['create', { external_id: 'ASK-1', create: true, name: 'Named anew', probability: 0.45 }],
])('the write itself fails: %s', (what, args) => {
  test.concurrent.each(writeFaultNames)('%s', async (name) => {
    const { upstream, it, puts } = await openOverService(optionsFor(name));
    upstream.set(limit(writeFaults[name], { method: 'PUT' }));
    const answer = await it.upsert(args);
    const rows = stored(upstream, args.external_id);
    const isThere = rows.some((row) => row.name === args.name && row.probability === 0.45);
    expect(isThere).toBe(writeFaults[name].applied);
    expect(rows).toHaveLength(what === 'change' || isThere ? 1 : 0);
    expect(answer).toMatchObject({ outcome: outcomeOf(name), isError: false });
    expect(await journaled(it)).toEqual([answer.outcome, isThere ? args.name : undefined]);
    expect(puts()).toBe(1);
    expect(upstream.elsewhere.sawKey()).toBe(false);
    if (isThere) expect(answer.data.differs).toBeUndefined();
  });
});

test('a refusal is reported with the message of the service', async () => {
  const { upstream, it } = await openOverService();
  upstream.set(limit(writeFaults['400-messages'], { method: 'PUT' }));
  const { text } = await it.upsert({ external_id: 'opp-3', name: 'Named anew' });
  expect(text).toMatch(
    /^Not written: .* because the service refused it: "name must be a string"\./,
  );
});

test.each([502, 504, 408, 524])('status %i of a gateway: perhaps written', async (code) => {
  const { upstream, it } = await openOverService();
  upstream.set(limit({ write: 'unapplied', status: { code } }, { method: 'PUT' }));
  const answer = await it.upsert({ external_id: 'opp-3', name: 'Named anew' });
  expect(answer.outcome).toBe('cannot_tell');
  expect(answer.text).toMatch(/may yet change/);
});

test('an unreachable service: certainly not written', async () => {
  const folder = newFolder();
  let gone = async () => {};
  const state = announcingJournal(localState(folder), () => gone());
  const { upstream, it, puts } = await openOverService({ folder, state });
  // Waits until the server has noticed that the connections are closed; it could still use one of them. However late
  // the time is over, the turn after it has read what came from the network.
  gone = () => upstream.close().then(() => setTimeout(50).then(() => setImmediate()));
  const answer = await it.upsert({ external_id: 'opp-3', name: 'Named anew' });
  expect(answer).toMatchObject({ outcome: 'not_written' });
  expect(answer.text).toMatch(/the request failed \(unreachable, ECONNREFUSED\)/);
  expect(await journaled(it)).toEqual(['not_written', undefined]);
  expect(puts()).toBe(0);
});

const readFaults: readonly FaultName[] = [
  '500',
  '429-an-hour',
  'key-wrong',
  'no-permission',
  '404',
  '302-other-host',
  'reset',
  'close-in-body',
  'stops-in-body',
  'never-answers',
  'truncated',
  'html-200',
  'empty-body',
  'other-object',
];

/** Selects the reads of one record, from the n-th on. */
const readOf = (upstream: Upstream, externalId: string, after: number): When => {
  const path = `/public-api/opportunity/${stored(upstream, externalId)[0]?.id}`;
  return { method: 'GET', after, if: (request) => request.path === path };
};

describe('a read fails before the write', () => {
  test.concurrent.each(readFaults)('during planning: %s', async (name) => {
    const { upstream, it, puts } = await openOverService(optionsFor(name));
    upstream.set(limit(faults[name], { method: 'GET' }));
    const answer = await it.upsert({ external_id: 'opp-3', name: 'Named anew' });
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toMatch(/^Nothing was written\. \S/);
    expect(puts()).toBe(0);
    expect(await it.journal()).toEqual([]);
  });

  test.concurrent.each(sample(readFaults, 2))('after the person agreed: %s', async (name) => {
    const { upstream, it, puts } = await openOverService(optionsFor(name));
    // Reads for the question and before the write.
    upstream.set(limit(faults[name], readOf(upstream, 'opp-3', 1)));
    const answer = await it.upsert({
      opportunity_id: stored(upstream, 'opp-3')[0]?.id,
      name: 'No',
    });
    if (name === 'other-object') expect(answer.outcome).not.toBe('written');
    else
      expect(answer).toMatchObject({ isError: true, text: expect.stringMatching(/^Nothing was/) });
    expect(puts()).toBe(0);
    expect(await it.journal()).toEqual([]);
  });
});

/** Runs `then` when the service answers a write. */
const afterWrite = (upstream: Upstream, then: () => void): Behaviour => ({
  onRequest: (_n, _upstream, { method }) => {
    if (method === 'PUT' && upstream.requests.length > 0) then();
  },
});

describe('the record cannot be read back', () => {
  test.concurrent.each(sample(readFaults, 2, 1))(
    '%s: confirmed, but not compared',
    async (name) => {
      const { upstream, it, puts } = await openOverService(optionsFor(name));
      upstream.set(
        afterWrite(upstream, () => upstream.set(limit(faults[name], { method: 'GET' }))),
      );
      const answer = await it.upsert({ external_id: 'opp-3', name: 'Named anew' });
      expect(answer).toMatchObject({ outcome: 'written', isError: false });
      expect(answer.text).toMatch(/could not be read back to compare/);
      expect(stored(upstream, 'opp-3')).toMatchObject([{ name: 'Named anew' }]);
      expect(await journaled(it)).toEqual(['written', undefined]);
      expect(puts()).toBe(1);
    },
  );

  test.concurrent.each([
    'reset-after-applying',
    'reset-before-reading',
    '500-without-applying',
  ] as const)('and the write was not answered (%s): outcome unknown', async (name) => {
    const { upstream, it, puts } = await openOverService();
    upstream.set({
      ...limit(writeFaults[name], { method: 'PUT' }),
      ...afterWrite(upstream, () => upstream.set(limit(faults['500'], { method: 'GET' }))),
    });
    const answer = await it.upsert({ external_id: 'opp-3', name: 'Named anew' });
    expect(answer).toMatchObject({ outcome: 'cannot_tell', isError: false });
    expect(answer.text).toMatch(/^It is not known whether/);
    expect(await journaled(it)).toEqual(['cannot_tell', undefined]);
    expect(puts()).toBe(1);
  });
});

/** Changes the stored record before it is read back. */
const making = (upstream: Upstream, change: (row: Row) => void): Behaviour => ({
  onRequest: (_n, _upstream, { method }) => {
    const [row] = stored(upstream, 'opp-3');
    if (method === 'GET' && row && upstream.requests.some((it) => it.method === 'PUT')) change(row);
  },
});

const shorten = (row: Row): void => {
  row.name = 'Named';
};
const agreed = { external_id: 'opp-3', name: 'Named anew' };

describe('the service stores other values than were sent', () => {
  test('and confirms: written, and the differences are reported', async () => {
    const { upstream, it } = await openOverService();
    upstream.set(making(upstream, shorten));
    const answer = await it.upsert({ ...agreed, probability: 0.45 });
    expect(answer).toMatchObject({
      outcome: 'written',
      data: { differs: [{ field: 'name', intended: 'Named anew', stored: 'Named' }] },
    });
    expect(answer.text).toMatch(/stored some fields differently/);
  });

  test('and disconnects, with nothing stored as sent: it may be another change', async () => {
    const { upstream, it } = await openOverService();
    const broken = limit(writeFaults['reset-after-applying'], { method: 'PUT' });
    upstream.set({ ...broken, ...making(upstream, shorten) });
    const answer = await it.upsert(agreed);
    expect(answer.outcome).toBe('cannot_tell');
    expect(answer.text).toMatch(/has changed, but not to the intended values/);
  });
});

test('a change that the service stores a moment after its answer is written', async () => {
  const { upstream, it } = await openOverService();
  let reads = 0;
  const late = (row: Row): void => {
    reads += 1;
    if (reads === 2) row.name = agreed.name;
  };
  upstream.set({ write: 'unapplied', ...making(upstream, late) });
  expect((await it.upsert(agreed)).outcome).toBe('written');
});
