import { expect, test } from 'vitest';
import { historyRecorder } from '../../src/history/recorder.ts';
import type { Collection } from '../../src/reading/coverage.ts';

const readingAt = (time: string, records = [1]): Collection<number> => {
  const asOf = new Date(`2026-06-15T${time}Z`);
  const coverage = { complete: true, read: 1, total: 1, asOf } as const;
  return { records, coverage, asOf };
};

test('readings are stored once, in order, and again after a clock that was ahead was corrected', async () => {
  const stored: string[] = [];
  const recorder = historyRecorder<number>(
    async () => ({ save: async (_, takenAt) => stored.push(takenAt.toISOString().slice(11, 19)) }),
    (error) => {
      throw error;
    },
  );
  const note = async (time: string, records?: number[]) => {
    recorder.note(readingAt(time, records));
    await recorder.flush();
  };
  for (const time of ['09:00:00', '09:00:00', '08:00:00', '09:30:00']) await note(time);
  // That all are gone may be a fault of the service.
  await note('09:45:00', []);
  expect(stored.splice(0)).toEqual(['09:00:00', '09:30:00']);
});

test('a failure is reported once, and once more where it comes back', async () => {
  const reported: unknown[] = [];
  let isFull = true;
  const save = async () => {
    if (isFull) throw new Error('no space');
  };
  const recorder = historyRecorder<number>(
    async () => ({ save }),
    (error) => reported.push(error),
  );
  const note = async (time: string) => {
    recorder.note(readingAt(time));
    await recorder.flush();
  };
  await note('09:00:00');
  await note('09:10:00');
  expect(reported).toHaveLength(1);
  isFull = false;
  await note('09:20:00');
  isFull = true;
  await note('09:30:00');
  expect(reported).toHaveLength(2);
});
