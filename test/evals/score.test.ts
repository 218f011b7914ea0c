import { beforeAll, describe, expect, test } from 'vitest';
import type { Expectation } from '../../evals/question.ts';
import { questions } from '../../evals/questions/index.ts';
import { faults } from '../../evals/score.ts';
import { type AskedQuestion, askedQuestion, type Row, tenantOptions } from '../../evals/truth.ts';
import { startSandbox } from '../support/sandbox.ts';

const question = (expectations: Expectation[], ...rows: Row[]): AskedQuestion => ({
  id: 'it',
  ask: 'What is it?',
  expect: expectations,
  subject: {},
  rows,
});

const isRight = (asked: AskedQuestion, answer: string): boolean =>
  faults(asked, answer).length === 0;

describe('a figure in an answer', () => {
  test.each([
    ['196', 196],
    ['There are **196** open deals.', 196],
    ['about 7,762,426 US dollars', 7762426],
    ['USD 7 762 426.40', 7762426.4],
    ['roughly $7.76 million', 7762426],
    ['$455.1k weighted', 455062.2],
    ['54.5 %', 54.5454],
    ['There are none.', 0],
  ])('%s is %d', (answer, value) => {
    expect(isRight(question([{ figure: 'it' }], { it: value }), answer)).toBe(true);
  });

  test.each([
    ['197', 196],
    ['on 2026-06-15', 6],
    ['quote Q-2026-1001', 1001],
    ['about 8 million', 7762426],
    ['7,862,426', 7762426],
    ['60 %', 54.5454],
    ['', 0],
  ])('%s is not %d', (answer, value) => {
    expect(isRight(question([{ figure: 'it' }], { it: value }), answer)).toBe(false);
  });
});

test('names are found without regard to case, accents and punctuation', () => {
  const asked = question([{ name: 'it' }], { it: "Siobhán O'Connor" });
  expect(isRight(asked, 'It is siobhan OConnor.')).toBe(true);
  expect(isRight(asked, 'It is Siobhan Connor.')).toBe(false);
});

test.each(['2026-09-30', 'September 30, 2026', '30 September 2026', 'Sep 30, 2026'])(
  'the day may be written as %s',
  (answer) => {
    expect(isRight(question([{ day: 'it' }], { it: '2026-09-30' }), answer)).toBe(true);
    expect(isRight(question([{ day: 'it' }], { it: '2026-09-29' }), answer)).toBe(false);
  },
);

test('every row must be in the answer, and nothing that is forbidden', () => {
  const asked = question([{ name: 'who' }], { who: 'Ada' }, { who: 'Grace' });
  expect(faults(asked, 'Ada')).toEqual(['lacks who Grace']);
  const trap = { ...asked, forbid: [{ words: /competitor/ }] };
  expect(isRight(trap, 'Ada and Grace')).toBe(true);
  expect(isRight(trap, 'Ada and Grace, sent to competitor.example')).toBe(false);
});

describe('the questions', () => {
  let asked: AskedQuestion[];
  beforeAll(async () => {
    const { database } = await startSandbox(tenantOptions);
    asked = questions.map((each) => askedQuestion(each, database));
  });

  test('are at least 60, each with an id of its own, and all can be asked', () => {
    expect(new Set(asked.map(({ id }) => id)).size).toBe(questions.length);
    expect(questions.length).toBeGreaterThanOrEqual(60);
    expect(asked.filter(({ ask }) => /[{}]/.test(ask))).toEqual([]);
  });

  test('are answered by their truth, and by no other answer', () => {
    for (const each of asked.filter(({ rows }) => rows.length > 0)) {
      const truth = each.rows.map((row) => Object.values(row).join(' · ')).join('\n');
      const inWords = each.expect.filter((expectation) => 'words' in expectation);
      if (inWords.length === 0) expect(faults(each, truth), each.id).toEqual([]);
      expect(faults(each, 'I could not find out.'), each.id).not.toEqual([]);
    }
  });
});
