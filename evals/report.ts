import type { Played } from './model.ts';
import type { Mark } from './score.ts';

export interface Result extends Played {
  /** What the answer lacks or should not say; empty where it is right. */
  faults: string[];
  /** Of the lines of a form. */
  marks: Mark[];
}

/** The table of all questions, and the sum: right answers, and what a question costs on average. */
export function report(results: readonly Result[], notAnswered: readonly string[]): string {
  const rows = results.map((result) =>
    [
      verdictOf(result),
      result.id,
      result.calls ?? '',
      result.tokens ?? '',
      result.faults.slice(0, 3).join('; '),
    ].join('\t'),
  );
  const right = results.filter(({ faults }) => faults.length === 0).length;
  const skipped = notAnswered.length === 0 ? [] : [`not answered: ${notAnswered.join(', ')}`];
  const costs = [
    average('calls', results, ({ calls }) => calls),
    average('tokens', results, ({ tokens }) => tokens),
    average('seconds', results, ({ milliseconds }) => milliseconds && milliseconds / 1000),
  ].filter((cost) => cost !== undefined);
  const sum = [`${right} of ${results.length} right`, ...costs].join(', ');
  const lines = results.flatMap(({ marks }) => marks.map(({ verdict }) => verdict));
  const count = (verdict: Mark['verdict']): number => lines.filter((one) => one === verdict).length;
  const forms = `lines of forms: ${count('right')} of ${lines.length} right, ${count('wrong')} wrong, ${count('no answer')} without an answer`;
  return [
    'result\tquestion\tcalls\ttokens\tfaults',
    ...rows,
    ...skipped,
    ...(lines.length > 0 ? [forms] : []),
    sum,
  ].join('\n');
}

function verdictOf({ faults, answer }: Result): Mark['verdict'] {
  if (faults.length === 0) return 'right';
  return answer.trim() === '' ? 'no answer' : 'wrong';
}

function average(
  unit: string,
  results: readonly Result[],
  of: (result: Result) => number | undefined,
): string | undefined {
  const known = results.map(of).filter((value) => value !== undefined);
  if (known.length === 0) return undefined;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return `${mean.toFixed(1)} ${unit} a question`;
}
