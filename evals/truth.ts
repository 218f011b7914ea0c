import type { Sandbox } from '../src/sandbox/index.ts';
import { definitions, type Field, type Question } from './question.ts';

/** The day on which the questions are asked. The tenant's data ends there, and the server's clock is set to it. */
export const day = '2026-06-15';

export const tenantOptions = {
  tenants: ['harborpeak'],
  seed: 1,
  scale: 1,
  now: new Date(`${day}T09:00:00Z`),
  rateLimit: false as const,
};

export type Cell = string | number | null;
export type Row = Record<string, Cell>;

/** A question about a certain record, and what is true. */
export interface AskedQuestion extends Question {
  /** The first row of `about`. */
  subject: Row;
  rows: Row[];
}

/**
 * Puts the record that is asked about into the question and reads what is true.
 * @throws Error if a query of the question returns no rows: any answer would be accepted.
 */
export function askedQuestion(question: Question, database: Sandbox['database']): AskedQuestion {
  const subject = question.about === undefined ? {} : firstRow(question, database);
  const { truth = question.form && truthOf(question.form) } = question;
  const rows = truth === undefined ? [] : read(database, truth, subject);
  if (truth !== undefined && rows.length === 0) throw new Error(`${question.id}: nothing is true`);
  const text = [question.ask, ...(question.form ? formText(question.form) : [])].join('\n');
  const ask = text.replace(/\{(\w+)\}/g, (_, column: string) => {
    const cell = subject[column];
    if (cell === undefined || cell === null) throw new Error(`${question.id}: no ${column}`);
    return String(cell);
  });
  return { ...question, ask, subject, rows };
}

/** The name of a line of a form: F1, F2, … */
export const fieldKey = (index: number): string => `F${index + 1}`;

const truthOf = (form: readonly Field[]): string =>
  `select ${form.map(({ truth }, index) => `(${truth}) as ${fieldKey(index)}`).join(',\n')}`;

const formText = (form: readonly Field[]): string[] => [
  'Answer with one line for each, as "F1: value", with nothing but the value: a number, a name, or a day as YYYY-MM-DD; "unknown" where the tools cannot tell.',
  ...form.map(({ label }, index) => `${fieldKey(index)} ${label}`),
];

/** The columns of `after` that are not 1: what should have been changed, or left as it was. */
export function unmet(question: AskedQuestion, database: Sandbox['database']): string[] {
  if (question.after === undefined) return [];
  const [row = {}] = read(database, question.after, question.subject);
  return Object.keys(row).filter((column) => row[column] !== 1);
}

function firstRow(question: Question, database: Sandbox['database']): Row {
  const [row] = read(database, question.about ?? '', {});
  if (row === undefined) throw new Error(`${question.id}: nothing to ask about`);
  return row;
}

function read(database: Sandbox['database'], sql: string, subject: Row): Row[] {
  const known: [string, Cell][] = Object.entries({ ...subject, today: day });
  const named = known.filter(([name]) => sql.includes(`:${name}`));
  const values = Object.fromEntries(named.map(([name, value]) => [`:${name}`, value]));
  return database.prepare(definitions + sql).all(values) as Row[];
}
