/**
 * The outcome of a deal. Tenants choose the names of their stages and statuses, so only a few unambiguous words are
 * recognised; any other text has no meaning here.
 */
import type { Opportunity } from '../service/records/records.ts';
import { type Day, dayOf } from './days.ts';

/** `closed_unknown`: closed, but nothing says whether it was won or lost. */
export type Outcome = 'open' | 'won' | 'lost' | 'closed_unknown' | 'deleted';

/** Words that close a deal even without a closing time. */
const wonWords = ['won'];
const lostWords = ['lost'];
/** Words that mean won or lost only for closed deals: "quote accepted" may be an intermediate stage. */
const acceptedTerms = [...wonWords, 'accepted', 'approved', 'signed', 'ordered'];
const refusedWords = [...lostWords, 'declined', 'rejected', 'cancelled', 'canceled', 'abandoned'];
const openWords = ['open', 'reopened'];

/** Words that negate the rest of their clause: "not yet sent", "awaiting signed order". */
const negations = new Set(['not', 'no', 'never', 'non', 'almost', 'awaiting', 'pending']);
const clauseEnd = /[,;:/()|]|\s[-–—]\s/;

/** Whole words of one clause, lower case; `closedWon` and `CLOSED_WON` are two words each. */
function wordsOf(clause: string): string[] {
  const spaced = clause.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  return spaced.split(/[^\p{L}\p{N}'’]+/u);
}

/** Caches the words of each text: a tenant has a dozen stages and statuses, and every record repeats two. */
const wordsByText = new Map<string, ReadonlySet<string>>();
const maxTexts = 1_000;

/** The words of a text that are not negated. */
export function plainWords(text = ''): ReadonlySet<string> {
  let words = wordsByText.get(text);
  if (!words) {
    words = readPlainWords(text);
    if (wordsByText.size < maxTexts) wordsByText.set(text, words);
  }
  return words;
}

function readPlainWords(text: string): ReadonlySet<string> {
  const plain = new Set<string>();
  for (const clause of text.split(clauseEnd)) {
    for (const word of wordsOf(clause)) {
      if (negations.has(word)) break;
      plain.add(word);
    }
  }
  return plain;
}

export const hasAny = (words: ReadonlySet<string>, wanted: readonly string[]): boolean =>
  wanted.some((word) => words.has(word));

/** Soft-deleted: marked so, by either name of the mark. */
export function isDeleted(record: { deletedAt?: unknown; deleted?: unknown }): boolean {
  return Boolean(record.deletedAt) || Boolean(record.deleted);
}

/** Unlisted products are no longer sold; the service has no other deletion of products. */
export const isListed = (product: {
  listed?: boolean;
  deletedAt?: unknown;
  deleted?: unknown;
}): boolean => product.listed !== false && !isDeleted(product);

/** The day of the deletion, or `true` if the service sends no time; `undefined` if it is not deleted. */
export function deletionOf(record: {
  deletedAt?: unknown;
  deleted?: unknown;
}): Day | true | undefined {
  if (!isDeleted(record)) return undefined;
  const mark = record.deletedAt || record.deleted;
  return (typeof mark === 'string' ? dayOf(mark) : undefined) ?? true;
}

/**
 * The outcome of an opportunity. `closedAt` set means closed; won or lost is read from the words of
 * `statusId`, else of the stage's name. Without `closedAt` only the plain words "won", "lost" and "closed"
 * close a deal, and a status that says "open" keeps it open.
 */
export function outcomeOf(opportunity: Opportunity): Outcome {
  if (isDeleted(opportunity)) return 'deleted';
  const isClosed = Boolean(opportunity.closedAt);
  const [won, lost] = isClosed ? [acceptedTerms, refusedWords] : [wonWords, lostWords];
  const texts = [opportunity.statusId, opportunity.pipelineStage?.name].map(plainWords);
  for (const words of texts) {
    if (!isClosed && hasAny(words, openWords)) return 'open';
    const isWon = hasAny(words, won);
    if (isWon !== hasAny(words, lost)) return isWon ? 'won' : 'lost';
  }
  return isClosed || texts.some((words) => words.has('closed')) ? 'closed_unknown' : 'open';
}

/** The outcome in a word. */
export const outcomeWord = (outcome: Outcome) =>
  outcome === 'closed_unknown' ? 'closed' : outcome;

export const isOpen = (opportunity: Opportunity): boolean => outcomeOf(opportunity) === 'open';
