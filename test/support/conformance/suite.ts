import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { installed, runOnNewerNode } from '../npm.ts';
import { newFolder } from '../shared.ts';

export type Revision = '2025-11-25' | '2026-07-28';

type Status = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';

interface Check {
  id: string;
  status: Status;
}

export interface Outcome {
  /** Number of checks by status. */
  totals: Record<Status, number>;
  /** Failed checks by scenario. */
  failed: Record<string, string[]>;
}

const suite = '@modelcontextprotocol/conformance';
const version = '0.2.0-alpha.12';

/** Runs every scenario for servers of that revision, required or not. */
export async function runConformance(url: string, revision: Revision): Promise<Outcome> {
  const folder = await installed(`${suite}@${version}`);
  const results = newFolder();
  const program = join(folder, 'node_modules', suite, 'dist', 'index.js');
  const words = ['server', '--url', url, '--requirements', revision, '-o', results];
  try {
    const { stdout, stderr } = await runOnNewerNode([program, ...words], results);
    const outcome = await read(results);
    if (outcome.totals.SUCCESS === 0) throw new Error(`Nothing was checked. ${stdout}${stderr}`);
    return outcome;
  } finally {
    await rm(results, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Each scenario writes a folder named after itself and the time. */
async function read(results: string): Promise<Outcome> {
  const totals = { SUCCESS: 0, FAILURE: 0, WARNING: 0, SKIPPED: 0, INFO: 0 };
  const failed: Outcome['failed'] = {};
  for (const name of await readdir(results)) {
    const checks: Check[] = JSON.parse(await readFile(join(results, name, 'checks.json'), 'utf8'));
    for (const { status } of checks) totals[status] += 1;
    const ids = checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id);
    const scenario = name.replace(/^server-|-\d{4}-\d\d-\d\dT[\dZ-]+$/g, '');
    if (ids.length > 0) failed[scenario] = [...new Set(ids)].sort();
  }
  return { totals, failed };
}
