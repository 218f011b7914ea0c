/**
 * The outcome of a deal. Tenants choose the names of their stages and statuses, so only a few unambiguous words are
 * recognised; any other text has no meaning here.
 */
import type { Opportunity } from '../service/records/records.ts';
import type { Day } from './days.ts';

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

/** Of each text: a tenant has a dozen stages and statuses, and every record repeats two. */
const meanings = new Map<string, ReturnType<typeof readMeaning>>();
const maxTexts = 1_000;

function meaningOf(text = '') {
  const known = meanings.get(text);
  if (known) return known;
  const meaning = readMeaning(text);
  if (meanings.size < maxTexts) meanings.set(text, meaning);
  return meaning;
}

/** What the words of a stage or a status say of a deal: `ofOpen` without a closing time, and `ofClosed` with one. */
function readMeaning(text: string) {
  const words = readPlainWords(text);
  return {
    words,
    isOpen: hasAny(words, openWords),
    isClosed: words.has('closed'),
    ofOpen: wonOrLost(words, wonWords, lostWords),
    ofClosed: wonOrLost(words, acceptedTerms, refusedWords),
  };
}

/** `undefined` where the words say neither, or both. */
function wonOrLost(
  words: ReadonlySet<string>,
  won: readonly string[],
  lost: readonly string[],
): 'won' | 'lost' | undefined {
  const isWon = hasAny(words, won);
  return isWon === hasAny(words, lost) ? undefined : isWon ? 'won' : 'lost';
}

/** The words of a text that are not negated. */
export const plainWords = (text: string | undefined): ReadonlySet<string> => meaningOf(text).words;

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

interface Deletable {
  deletedAt?: unknown;
  deleted?: unknown;
}

/** Soft-deleted: marked so, by either name of the mark. */
export const isDeleted = ({ deletedAt, deleted }: Deletable): boolean =>
  Boolean(deletedAt || deleted);

/** Unlisted products are no longer sold; the service has no other deletion of products. */
export const isListed = (product: Deletable & { listed?: boolean }): boolean =>
  product.listed !== false && !isDeleted(product);

/** The day of the deletion, or `true` if the service sends no time; `undefined` if it is not deleted. */
export function deletionOf({ deletedAt, deleted }: Deletable): Day | true | undefined {
  const mark = deletedAt || deleted;
  if (!mark) return undefined;
  // A text is a time: the records were read so.
  return typeof mark === 'string' ? mark.slice(0, 10) : true;
}

/**
 * The outcome of an opportunity. `closedAt` set means closed; won or lost is read from the words of
 * `statusId`, else of the stage's name. Without `closedAt` only the plain words "won", "lost" and "closed"
 * close a deal, and a status that says "open" keeps it open.
 */
export function outcomeOf(opportunity: Opportunity): Outcome {
  if (isDeleted(opportunity)) return 'deleted';
  const { closedAt, statusId, pipelineStage } = opportunity;
  const isClosed = Boolean(closedAt);
  const [status, stage] = [meaningOf(statusId), meaningOf(pipelineStage?.name)];
  for (const { isOpen, ofOpen, ofClosed } of [status, stage]) {
    if (!isClosed && isOpen) return 'open';
    const said = isClosed ? ofClosed : ofOpen;
    if (said) return said;
  }
  return isClosed || status.isClosed || stage.isClosed ? 'closed_unknown' : 'open';
}

export const outcomeWord = (outcome: Outcome) =>
  outcome === 'closed_unknown' ? 'closed' : outcome;

export const isOpen = (opportunity: Opportunity): boolean => outcomeOf(opportunity) === 'open';
