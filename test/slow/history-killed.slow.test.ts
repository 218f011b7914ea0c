import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { addDays } from '../../src/figures/days.ts';
import { localState } from '../../src/state/files/local.ts';
import { dealsTakenAt } from '../support/history-deals.ts';
import { buildProgram, killAtFile } from '../support/program.ts';
import { closing, newFolder } from '../support/shared.ts';
import { storedHistory } from '../support/stored-history.ts';

/** Two processes at a time are killed while they write snapshots: no stored day is damaged or lost. */

const first = '2026-01-01';

interface Writer {
  child: ChildProcess;
  /** The days that it has reported as stored. */
  stored: string[];
}

function startWriter(program: string, folder: string, from: string, time: string): Writer {
  const child = spawn(process.execPath, [program, folder, from, time], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closing({ close: async () => void child.kill('SIGKILL') });
  const stored: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => stored.push(line));
  return { child, stored };
}

test('whatever was stored is whole, and can be added to', async () => {
  const folder = newFolder();
  const snapshots = join(folder, 'history-tenant');
  await mkdir(snapshots, { mode: 0o700 });
  const program = await buildProgram('write-history', folder);
  const stored = new Set<string>();
  for (const [round, files] of [2, 5, 3, 8, 4].entries()) {
    const from = addDays(first, round * 5);
    const writers = ['10:00:00', '15:00:00'].map((time) =>
      startWriter(program, folder, from, time),
    );
    await Promise.all(
      writers.map((writer, at) => killAtFile(writer.child, snapshots, files + at * 6)),
    );
    for (const writer of writers) for (const day of writer.stored) stored.add(day);
  }
  const last = new Date('2026-12-31T10:00:00Z');
  const history = storedHistory(localState(folder).snapshots('tenant'), 400, () => last);
  const days = await history.days();
  expect(days).toEqual(expect.arrayContaining([...stored]));
  const reader = history.reader();
  for (const day of days) {
    const snapshot = await reader.read(day);
    expect(snapshot?.records).toEqual(dealsTakenAt(snapshot?.takenAt ?? last));
  }
  expect(days.length).toBeGreaterThan(5);
  expect(await history.save(dealsTakenAt(last), last)).toBe(true);
  expect((await reader.read('2026-12-31'))?.records).toEqual(dealsTakenAt(last));
  const damaged = (await readdir(snapshots)).filter((name) => !/^\d{4}-\d\d-\d\d/.test(name));
  expect(damaged).toEqual([]);
});
