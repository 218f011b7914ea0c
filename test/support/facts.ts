import type { Row } from './hosts.ts';

/** All scalar values in it, as text. */
function leavesOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [String(value)];
  return Object.values(value).flatMap(leavesOf);
}

/** All names of fields in it. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(namesIn)];
}

/** The text without layout: line breaks, escaped table borders, separators of thousands, cents that end in 0, seconds. */
const plain = (text: string): string =>
  text
    .replaceAll('\\|', '|')
    .replace(/[\s⏎]+/g, ' ')
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, '')
    .replace(/(?<=\d\.\d)0(?!\d)/g, '')
    .replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z/g, '$1 $2 UTC')
    .trim();

/** A name as the text has it: in words. */
const inWords = (name: string): string =>
  name
    .replace('unknown currency', 'currency unknown')
    .replace('oneTime', 'one-time')
    .replace('OneTime', 'One-time')
    .replace('firstYear', 'first-year')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** Words between amounts, and for an amount without a currency. */
const ofAmounts = ['and', 'currency', 'unknown'];

interface Coverage {
  complete: boolean;
  reason?: string;
}

/**
 * The facts that text and structured content must share: the text has the page in its summary, and omits a
 * complete, fresh coverage.
 */
function toldByBoth({ page: _, coverage, ...others }: Row): Row {
  const { complete, reason } = (coverage ?? { complete: true }) as Coverage;
  const isWhole = complete || reason === 'one page' || reason === 'not counted';
  return isWhole ? others : { ...others, coverage };
}

/** The facts that only one form of an answer contains. */
export function differencesBetween(
  text: string,
  structured: Row,
): { onlyData: string[]; onlyText: string[] } {
  const data = toldByBoth(structured);
  const mentioned = plain(text);
  const leaves = leavesOf(data).map(plain);
  const told = [...leaves, ...namesIn(data)];
  const words = new Set([...told, ...told.map(inWords), ...ofAmounts].flatMap(wordsOf));
  return {
    onlyData: leaves.filter(
      (leaf) => !mentioned.includes(leaf) && !mentioned.includes(inWords(leaf)),
    ),
    onlyText: wordsOf(mentioned).filter((word) => !words.has(word)),
  };
}

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu) ?? [];

/** Whether it contains no facts. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}
