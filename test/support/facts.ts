import type { Row } from './hosts.ts';

/** Every value in it that is no list and no record, as text. */
function leavesOf(value: unknown): string[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object') return [String(value)];
  return Object.values(value).flatMap(leavesOf);
}

/** Every name of a field in it. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(namesIn)];
}

/** A text without what only lays it out: line breaks, marks for them, escaped borders of tables. */
const plain = (text: string): string =>
  text
    .replaceAll('\\|', '|')
    .replace(/[\s⏎]+/g, ' ')
    .trim();

interface Coverage {
  complete: boolean;
  reason?: string;
}

/** What both forms have to say: the summary tells the page, and that everything was read just now goes without saying. */
function toldByBoth({ page: _, coverage, ...others }: Row): Row {
  const { complete, reason } = (coverage ?? { complete: true }) as Coverage;
  const isWhole = complete || reason === 'one page' || reason === 'not counted';
  return isWhole ? others : { ...others, coverage };
}

/** What one form of an answer says and the other does not. */
export function differencesBetween(
  text: string,
  structured: Row,
): { onlyData: string[]; onlyText: string[] } {
  const data = toldByBoth(structured);
  const mentioned = plain(text);
  const leaves = leavesOf(data).map(plain);
  const words = new Set([...leaves, ...namesIn(data)].flatMap(wordsOf));
  return {
    onlyData: leaves.filter((leaf) => !mentioned.includes(leaf)),
    onlyText: wordsOf(mentioned).filter((word) => !words.has(word)),
  };
}

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu) ?? [];

/** Whether there is something in it to tell. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.values(value).every(isEmpty);
}
