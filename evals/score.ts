import type { Expectation } from './question.ts';
import type { AskedQuestion, Cell } from './truth.ts';

/** What an answer lacks, and what it should not have said; empty where it is right. */
export function faults(question: AskedQuestion, answer: string): string[] {
  return [
    ...(answer.trim() === '' ? ['no answer'] : []),
    ...question.expect.flatMap((expectation) => missing(expectation, question, answer)),
    ...(question.forbid ?? [])
      .filter((expectation) => missing(expectation, question, answer).length === 0)
      .map((expectation) => `should not say ${describe(expectation)}`),
  ];
}

function missing(expectation: Expectation, { rows }: AskedQuestion, answer: string): string[] {
  if ('words' in expectation) {
    return expectation.words.test(answer) ? [] : [`lacks ${describe(expectation)}`];
  }
  const [[kind, column]] = Object.entries(expectation) as [[keyof typeof comparisons, string]];
  return rows
    .map((row) => row[column] ?? null)
    .filter((cell) => cell === null || !comparisons[kind](answer, cell))
    .map((cell) => `lacks ${column} ${cell}`);
}

const describe = (expectation: Expectation): string => Object.values(expectation).join(', ');

type KnownCell = Exclude<Cell, null>;

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

/** Every number of a text. Dates and numbers of records such as Q-2026-1001 are none. */
function figures(answer: string): Figure[] {
  const text = answer.replace(/\d{4}-\d{2}(-\d{2})?/g, ' ');
  const found = [...text.matchAll(written)].map(([, whole = '', decimals = '', word = '']) => {
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
