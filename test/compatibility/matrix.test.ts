import { describe, expect, test, vi } from 'vitest';
import { examineVariation } from '../support/compatibility/doctor.ts';
import { judgeVariation, problemsOf } from '../support/compatibility/judge.ts';
import type { Choices } from '../support/compatibility/service.ts';
import { openSession } from '../support/compatibility/session.ts';
import { combined, variations } from '../support/compatibility/variations.ts';
import type { Row } from '../support/hosts.ts';

/** Every twentieth variation of the service; `compatibility-matrix.slow.test.ts` has all of them. */
const selected = variations.filter((_, index) => index % 20 === 0);

vi.setConfig({ maxConcurrency: 2 });

describe.concurrent('the service', () => {
  test.for(selected)('$name', async (variation, { expect }) => {
    expect(problemsOf(variation, await judgeVariation(variation))).toBe('');
  });

  test.for([
    ['rows without items', 'no count'],
    ['flat ids, filtered as flat', 'no count'],
    ['size is refused', 'hidden rows'],
  ])('%s + %s', async (names, { expect }) => {
    const both = combined(variations.filter(({ name }) => names.includes(name)));
    expect(problemsOf({ ...both, partial: true }, await judgeVariation(both))).toBe('');
  });
});

describe('a service that ignores filters, text and order answers as if it did not', () => {
  const ignoring = { filters: 'ignored', query: 'ignored', sort: 'ignored' } as const;
  const services: readonly Choices[] = [{}, ignoring, { ...ignoring, ignoreFrom: true }];
  test.each<[of: string, tool: string, args: Row]>([
    ['the second page of a filter', 'opportunities', { filters: 'owner:Ben Castle', from: 2 }],
    ['a filter that the first records pass', 'opportunities', { filters: 'statusId:Active' }],
    ['a text that the first records have', 'companies', { query: 'Freight' }],
    ['a text beside a filter', 'companies', { query: 'Freight', filters: 'name:~a' }],
    ['a text of a list without pages', 'contract_items', { query: '100' }],
    ['the first of an order', 'products', { sort: '-price', size: 1 }],
    ['the second of an order', 'products', { sort: '-price', size: 1, from: 1 }],
  ])('for %s', async (_, tool, args) => {
    const answers = await Promise.all(
      services.map(async (set) => {
        const { ask, close } = await openSession({ set });
        const answer = await ask(`cpq_list_${tool}`, { size: 2, ...args }).finally(close);
        return { total: answer.page.total, ids: answer.records.map(({ id }) => id) };
      }),
    );
    expect(answers[0]?.ids).toHaveLength(Number(args.size ?? 2));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  });
});

/** `compatibility-matrix.slow.test.ts` has all of them, and compares them with the briefs. */
const examined = [
  ['as documented', 0, 'pass'],
  ['flat ids and names', 0, 'pass'],
  ['page from 1', 0, 'warn'],
  ['hidden rows', 0, 'warn'],
  ['rows without items', 0, 'warn'],
  ['fields in attributes', 1, 'fail'],
  ['amounts by other names', 1, 'fail'],
  ['200 with an error', 1, 'fail'],
] as const;

describe.concurrent('doctor', () => {
  test.for(examined)('%s: exit status %i', async ([name, exit, worst], { expect }) => {
    const variation = variations.find((it) => it.name === name);
    if (!variation) throw new Error(`no variation ${name}`);
    const { received, report, ...found } = await examineVariation(variation);
    expect([found.exit, found.worst], found.output).toEqual([exit, worst]);
    expect(received).toBe(report.requests);
    expect(received).toBeLessThanOrEqual(40);
  });
});

test('each variation has a name of its own', () => {
  expect(new Set(variations.map(({ name }) => name)).size).toBe(variations.length);
});
