import type { Expectation, Field } from './question.ts';
import { type AskedQuestion, type Cell, fieldKey, type Row } from './truth.ts';

/** More numbers than these, besides those that are true, are a list to choose from and no answer. */
const maxOtherFigures = 8;

/** As long an answer as is read: one that repeats all that a tool said is none. */
const maxLength = (rows: number): number => 1_200 + 200 * rows;

/** What an answer lacks, and what it should not have said; empty where it is right. */
export function faults(question: AskedQuestion, answer: string): string[] {
  if (answer.trim() === '') return ['no answer'];
  return [
    ...marks(question, answer).flatMap(({ fault }) => fault ?? []),
    ...question.expect.flatMap((expectation) => missing(expectation, question, answer)),
    ...listed(question, answer),
    ...(question.forbid ?? [])
      .filter((expectation) => missing(expectation, question, answer).length === 0)
      .map((expectation) => `should not say ${describe(expectation)}`),
  ];
}

/** What became of a line of a form. */
export interface Mark {
  verdict: 'right' | 'wrong' | 'no answer';
  fault?: string;
}

/** The lines of the question's form, each by itself: `F1: value`. The line may repeat the label before the value. */
export function marks({ form = [], rows }: AskedQuestion, answer: string): Mark[] {
  const given = answer.split('\n').map((line) => /^\W*(F\d+)\b(.*)$/.exec(line));
  return form.map(({ as }, index) => {
    const key = fieldKey(index);
    const values = given
      .filter((line) => line?.[1] === key)
      .map((line) => lastCell(line?.[2] ?? ''));
    const known = new Set(values.filter((value) => !unanswered.test(value)));
    if (known.size === 0) return { verdict: 'no answer', fault: `${key} no answer` };
    const [value = '', ...others] = known;
    const truth = rows[0]?.[key] ?? null;
    const right = others.length === 0 && truth !== null && fits[as](value, truth);
    return right
      ? { verdict: 'right' }
      : { verdict: 'wrong', fault: `${key} is ${truth}, not ${[...known].join(' or ')}` };
  });
}

const unanswered = /^(unknown|not available|n\/a|none given|[-–—?]?)$/i;

/** The last cell of a line, without marks of Markdown and a note in brackets. */
const lastCell = (line: string): string =>
  (
    line
      .split(/[|:]/)
      .filter((cell) => /[\p{L}\p{N}]/u.test(cell))
      .at(-1) ?? ''
  )
    .replaceAll(/[*_`]/g, '')
    .split(' (', 1)
    .join('')
    .trim();

type KnownCell = Exclude<Cell, null>;

/** Whether a value is the truth, alone and no other. */
const fits: Record<Field['as'], (value: string, truth: KnownCell) => boolean> = {
  count: (value, truth) => single(value, truth, (figure) => figure.value === Number(truth)),
  amount: (value, truth) => single(value, truth, agrees),
  percent: (value, truth) => single(value, truth, roundsTo),
  days: (value, truth) => single(value, truth, roundsTo),
  name: (value, truth) => letters(value) === letters(String(truth)),
  day: (value, truth) => spellings(String(truth)).includes(value),
};

/** Whether a value is one number, with the sign of the truth. */
function single(value: string, truth: KnownCell, isRight: typeof agrees): boolean {
  const unsigned = value.replace(/^[-−]\s?/, '');
  const found = figures(unsigned);
  const sameSign = Number(truth) === 0 || (unsigned !== value) === Number(truth) < 0;
  return sameSign && found.length === 1 && found.every((figure) => isRight(figure, Number(truth)));
}

function missing(
  expectation: Expectation,
  { rows, expect }: AskedQuestion,
  answer: string,
): string[] {
  if ('words' in expectation) {
    return expectation.words.test(answer) ? [] : [`lacks ${describe(expectation)}`];
  }
  const [[kind, column]] = Object.entries(expectation) as [[keyof typeof comparisons, string]];
  const named = expect.flatMap((one) => ('name' in one ? one.name : []))[0];
  const placed = kind !== 'name' && named !== undefined && rows.length > 1;
  return rows.flatMap((row) => {
    const cell = row[column] ?? null;
    const texts = placed ? passages(answer, row, rows, named) : [answer];
    const found = cell !== null && texts.some((text) => comparisons[kind](text, cell));
    return found ? [] : [`lacks ${column} ${cell}${placed ? ` of ${row[named]}` : ''}`];
  });
}

/**
 * What an answer says about one of several rows: from its name to the next name of a row; where a line begins with a
 * number ("12 for Ada, 3 for Grace") also what stands before the name.
 */
function passages(answer: string, row: Row, rows: readonly Row[], column: string): string[] {
  const found = namesIn(answer, [...new Set(rows.map((one) => letters(String(one[column]))))]);
  const name = letters(String(row[column]));
  return found.flatMap((it, index) => {
    if (it.name !== name) return [];
    const after = answer.slice(it.start, found[index + 1]?.start);
    const line = answer.lastIndexOf('\n', it.start) + 1;
    const before = answer.slice(Math.max(line, found[index - 1]?.end ?? 0), it.start);
    const first = found.find(({ start }) => start >= line);
    const leads =
      first && figures(answer.slice(line, first.start).replace(/^\s*\d+[.)]\s/, '')).length > 0;
    return leads ? [after, before] : [after];
  });
}

interface Occurrence {
  name: string;
  start: number;
  end: number;
}

/** Where names stand in a text, without regard to case, accents and punctuation; the longest of those that overlap. */
function namesIn(text: string, names: readonly string[]): Occurrence[] {
  const places = [...text].reduce<{ at: number; known: { letter: string; at: number }[] }>(
    ({ at, known }, character) => {
      known.push(...[...letters(character)].map((letter) => ({ letter, at })));
      return { at: at + character.length, known };
    },
    { at: 0, known: [] },
  ).known;
  const plain = places.map(({ letter }) => letter).join('');
  const found: Occurrence[] = [];
  for (let index = 0; index < places.length; index += 1) {
    const [name] = names
      .filter((one) => plain.startsWith(one, index))
      .sort((a, b) => b.length - a.length);
    if (name === undefined || name === '') continue;
    const last = index + name.length - 1;
    found.push({ name, start: places[index]?.at ?? 0, end: (places[last]?.at ?? 0) + 1 });
    index = last;
  }
  return found;
}

/** A list of names or numbers is no answer, even if the right ones are among them. */
function listed({ expect, rows, ask, form }: AskedQuestion, answer: string): string[] {
  if (rows.length > 0 && !form && answer.length > maxLength(rows.length)) return ['is too long'];
  if (!expect.some((expectation) => 'figure' in expectation)) return [];
  const truths = rows
    .flatMap((row) => Object.values(row))
    .map(Number)
    .filter(Number.isFinite);
  const asked = new Set(figures(ask).map(({ value }) => value));
  const others = figures(answer).filter(
    (figure) => !asked.has(figure.value) && !truths.some((truth) => agrees(figure, truth)),
  );
  const count = new Set(others.map(({ value }) => value)).size;
  return count > maxOtherFigures ? [`lists ${count} other numbers`] : [];
}

const describe = (expectation: Expectation): string => Object.values(expectation).join(', ');

const comparisons = {
  figure: (answer: string, cell: KnownCell) =>
    figures(answer).some((figure) => agrees(figure, Number(cell))),
  name: (answer: string, cell: KnownCell) => letters(answer).includes(letters(String(cell))),
  day: (answer: string, cell: KnownCell) =>
    spellings(String(cell)).some((spelling) => answer.includes(spelling)),
};

/** A number as written in an answer, and the place of its last digit: 0.01 for cents, 1,000 for "23 k". */
interface Figure {
  value: number;
  unit: number;
}

const multiples: Record<string, number> = {
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  mio: 1e6,
  million: 1e6,
};
const written =
  /(?<![\w.-])(\d{1,3}(?:[,’'\u00A0\u202F ]\d{3})+|\d+)(\.\d+)?(?:\s?(k|thousand|m|mio|million))?(?![\w-])/gi;
const zero = /\b(no|none|zero|nothing)\b/i;

/** Every number of a text. Dates, numbers of records such as Q-2026-1001, and "this or that" are none. */
function figures(answer: string): Figure[] {
  const text = answer.replace(/\d{4}-\d{2}(-\d{2})?/g, ' ');
  const matches = [...text.matchAll(written)];
  const isChoice = (index: number): boolean => {
    const [before, after] = [matches[index - 1], matches[index]];
    if (!before || !after) return false;
    return (
      text
        .slice(before.index + before[0].length, after.index)
        .trim()
        .toLowerCase() === 'or'
    );
  };
  const found = matches
    .filter((_, index) => !isChoice(index) && !isChoice(index + 1))
    .map(([, whole = '', decimals = '', word = '']) => {
      const multiple = multiples[word.toLowerCase()] ?? 1;
      return {
        value: Number(whole.replace(/\D/g, '') + decimals) * multiple,
        unit: 10 ** -Math.max(0, decimals.length - 1) * multiple,
      };
    });
  return zero.test(answer) ? [...found, { value: 0, unit: 1 }] : found;
}

/** In full to the cent, or rounded to a place that leaves at least three digits. */
function agrees(figure: Figure, truth: number): boolean {
  const difference = Math.abs(figure.value - Math.abs(truth));
  if (difference < 0.006) return true;
  if (Number.isInteger(truth) && Math.abs(truth) < 1000) return false;
  return figure.value >= 100 * figure.unit && difference <= figure.unit / 2;
}

/** A percentage or days: rounded to a whole number or finer. */
const roundsTo = ({ value, unit }: Figure, truth: number): boolean =>
  unit <= 1 && Math.abs(value - Math.abs(truth)) <= unit / 2 + 1e-9;

const letters = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');

function spellings(iso: string): string[] {
  const date = new Date(`${iso}T00:00:00Z`);
  const part = (options: Intl.DateTimeFormatOptions, locale = 'en-US'): string =>
    date.toLocaleDateString(locale, { timeZone: 'UTC', ...options });
  const month = { day: 'numeric', year: 'numeric' } as const;
  return [
    iso,
    part({ ...month, month: 'long' }),
    part({ ...month, month: 'short' }),
    part({ ...month, month: 'long' }, 'en-GB'),
    part({ ...month, month: 'short' }, 'en-GB'),
  ];
}
