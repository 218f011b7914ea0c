import { beforeAll, describe, expect, test } from 'vitest';
import type { Expectation } from '../../evals/question.ts';
import { questions } from '../../evals/questions/index.ts';
import { faults, marks } from '../../evals/score.ts';
import {
  type AskedQuestion,
  askedQuestion,
  fieldKey,
  type Row,
  tenantOptions,
} from '../../evals/truth.ts';
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

describe('several numbers are no answer', () => {
  test('a list of numbers that holds the right one', () => {
    const asked = question([{ figure: 'it' }], { it: 196 });
    const list = Array.from({ length: 20 }, (_, index) => 190 + index).join(', ');
    expect(faults(asked, list)).toEqual(['lists 19 other numbers']);
    expect(isRight(asked, '196 open deals: 170 in USD, 20 in CAD, 6 without a currency.')).toBe(
      true,
    );
  });

  test('a text that holds every name', () => {
    const asked = question([{ name: 'it' }], { it: 'Q-2026-1001' });
    const all = Array.from({ length: 300 }, (_, index) => `Q-2026-${1000 + index}`).join(', ');
    expect(faults(asked, all)).toEqual(['is too long']);
  });

  test('one number or another', () => {
    const asked = question([{ figure: 'it' }], { it: 196 });
    expect(isRight(asked, 'It is 196 or 197.')).toBe(false);
  });

  const byOwner = question(
    [{ name: 'owner' }, { figure: 'deals' }],
    { owner: 'Ada', deals: 12 },
    { owner: 'Grace', deals: 3 },
  );
  test.each([
    'Ada 12, Grace 3',
    '12 for Ada and 3 for Grace',
    '1. Ada: 12\n2. Grace: 3',
    '| Ada | 12 |\n| Grace | 3 |',
    'Ada:\n- deals: 12\nGrace:\n- deals: 3',
  ])('a number must stand with its name: %j', (answer) => {
    expect(faults(byOwner, answer)).toEqual([]);
  });
  test.each([
    'Ada 3, Grace 12',
    '3 for Ada and 12 for Grace',
    'Ada, Grace: 3, 12',
    'Ada: 12\nGrace',
  ])('a number with another name is wrong: %j', (answer) => {
    expect(isRight(byOwner, answer)).toBe(false);
  });
});

describe('a line of a form', () => {
  const verdict = (
    as: 'count' | 'amount' | 'percent' | 'days' | 'name' | 'day',
    truth: string | number,
    answer: string,
  ) => {
    const form = [{ label: 'It', as, truth: '' }];
    return marks({ ...question([], { F1: truth }), form }, answer)[0]?.verdict;
  };

  test.each([
    ['count', 12, 'F1: 12'],
    ['count', 12, '- **F1** deals won this quarter: 12'],
    ['count', 12, '| F1 | Deals won | 12 |'],
    ['amount', 6379.53868, 'F1: 6,379.54 USD'],
    ['amount', 6379.53868, 'F1: 6380'],
    ['amount', 1_431_100, 'F1: $1.43 million'],
    ['percent', 41.5094, 'F1: 41.5 %'],
    ['percent', 41.5094, 'F1: 42 %'],
    ['days', 141.6818, 'F1: 142'],
    ['days', -3, 'F1: -3'],
    ['name', "Lucy O'Connor", 'F1: Lucy O’Connor'],
    ['name', 'Boston', 'F1: Boston (as in the record)'],
    ['day', '2026-07-03', 'F1: 2026-07-03'],
  ] as const)('%s %s is right as %j', (as, truth, answer) => {
    expect(verdict(as, truth, answer)).toBe('right');
  });

  test.each([
    ['count', 12, 'F1: 11'],
    ['count', 12, 'F1: 11, 12'],
    ['count', 12, 'F1: 12\nF1: 13'],
    ['amount', 6379.53868, 'F1: 6,379.60'],
    ['amount', 6379.53868, 'F1: 6,000'],
    ['percent', 41.5094, 'F1: 41'],
    ['percent', 41.5094, 'F1: 40 %'],
    ['days', -3, 'F1: 3'],
    ['name', 'Boston', 'F1: Boston or Salem'],
    ['day', '2026-07-03', 'F1: 2026-07-03 2026-07-04'],
  ] as const)('%s %s is wrong as %j', (as, truth, answer) => {
    expect(verdict(as, truth, answer)).toBe('wrong');
  });

  test.each(['', 'F1:', 'F1: unknown', 'F1: –', '12'])('is not answered by %j', (answer) => {
    expect(verdict('count', 12, answer)).toBe('no answer');
  });
});

describe('the questions', () => {
  let asked: AskedQuestion[];
  beforeAll(async () => {
    const { database } = await startSandbox(tenantOptions);
    asked = questions.map((each) => askedQuestion(each, database));
  });

  test('are 130, each with an id of its own, and all can be asked', () => {
    expect(new Set(asked.map(({ id }) => id)).size).toBe(questions.length);
    expect(questions).toHaveLength(130);
    expect(questions.filter(({ id }) => id.startsWith('crm-'))).toHaveLength(24);
    expect(asked.filter(({ ask }) => /[{}]/.test(ask))).toEqual([]);
  });

  test('have five forms of 161 lines, each right by its truth and wrong by that of another line', () => {
    const forms = asked.filter(({ form }) => form);
    const verdicts = forms.flatMap((each) => {
      const truths = each.form?.map((_, index) => String(each.rows[0]?.[fieldKey(index)])) ?? [];
      const lines = truths.map((truth, index) => `${fieldKey(index)}: ${truth}`);
      const shuffled = truths.map((_, index) => `${fieldKey(index)}: ${truths.join(' ')}`);
      expect(marks(each, shuffled.join('\n')).every(({ verdict }) => verdict === 'wrong')).toBe(
        true,
      );
      return marks(each, lines.join('\n')).map(({ verdict }) => verdict);
    });
    expect(forms).toHaveLength(5);
    expect(verdicts).toEqual(Array.from({ length: 161 }, () => 'right'));
  });

  test('of several rows are right in any usual form, and wrong with the numbers of another row', () => {
    const several = asked.flatMap((each) => {
      const columns = each.expect.flatMap((one) =>
        Object.values(one).filter((it) => typeof it === 'string'),
      );
      const isTable = each.rows.length > 1 && each.expect.some((one) => 'figure' in one);
      const name = each.expect.find((one) => 'name' in one);
      return isTable && name ? [{ each, columns, name: name.name }] : [];
    });
    expect(several.length).toBeGreaterThan(5);
    for (const { each, columns, name } of several) {
      const rest = (row: Row) => columns.filter((one) => one !== name).map((one) => row[one]);
      const forms: ((named: Row, told: Row) => string)[] = [
        (named, told) => `- **${named[name]}**: ${rest(told).join(', ')}`,
        (named, told) => `| ${[named[name], ...rest(told)].join(' | ')} |`,
        (named, told) => `${named[name]} (${rest(told).join(', ')}),`,
      ];
      const rotated = [...each.rows.slice(1), ...each.rows.slice(0, 1)];
      for (const form of forms) {
        expect(faults(each, each.rows.map((row) => form(row, row)).join('\n')), each.id).toEqual(
          [],
        );
        const mixed = each.rows.map((row, at) => form(row, rotated[at] ?? row)).join('\n');
        expect(faults(each, mixed), each.id).not.toEqual([]);
      }
    }
  });

  test('are answered by their truth, and by no other answer', () => {
    for (const each of asked.filter(({ rows, form }) => rows.length > 0 && !form)) {
      const truth = each.rows.map((row) => Object.values(row).join(' · ')).join('\n');
      const inWords = each.expect.filter((expectation) => 'words' in expectation);
      if (inWords.length === 0) expect(faults(each, truth), each.id).toEqual([]);
      expect(faults(each, 'I could not find out.'), each.id).not.toEqual([]);
    }
  });
});
