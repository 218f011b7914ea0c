import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { answersNow } from '../script.ts';
import { closeAll } from '../shared.ts';
import { mutants } from './switch.ts';

// Tries each mutant with the approved answers that reach it, in one process, and stops at the first answer that differs.
const folder = 'test/answers';
const timeoutMs = 60_000;
const { MUTANTS = '[]', RESULTS = '' } = process.env;
const scripts = readdirSync(folder)
  .filter((name) => name.endsWith('.txt'))
  .map((name) => readFileSync(join(folder, name), 'utf8'));

async function* parts(script: string): AsyncGenerator<string> {
  try {
    yield* answersNow(script);
  } finally {
    mutants.turnOn(0);
    await closeAll();
  }
}

async function isNoticed(script: string, expected: readonly string[]): Promise<boolean> {
  let at = 0;
  try {
    for await (const part of parts(script)) if (part !== expected[at++]) return true;
    return false;
  } catch {
    return true;
  }
}

const say = (id: number, result: string) =>
  appendFileSync(RESULTS, `${JSON.stringify({ id, result })}\n`);

test('each mutant', { timeout: 86_400_000 }, async () => {
  const approved = [];
  for (const script of scripts) {
    mutants.reached.clear();
    const expected: string[] = [];
    for await (const part of parts(script)) expected.push(part);
    approved.push({ script, expected, reached: new Set(mutants.reached) });
  }
  for (const id of JSON.parse(MUTANTS) as number[]) {
    say(id, 'tried');
    // One that waits for ever ends this process, and counts as noticed.
    const late = setTimeout(() => process.exit(1), timeoutMs);
    const reaching = approved.filter(({ reached }) => reached.has(id));
    let result = reaching.length === 0 ? 'not reached' : 'not noticed';
    for (const { script, expected } of reaching) {
      mutants.turnOn(id);
      if (!(await isNoticed(script, expected))) continue;
      result = 'noticed';
      break;
    }
    clearTimeout(late);
    say(id, result);
  }
});
