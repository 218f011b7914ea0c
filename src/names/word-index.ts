/** Full-text search by relevance (BM25+), over words that may be cut or misspelt. */
import SearchableMap from 'minisearch/SearchableMap';
import { foldedName } from '../figures/naming.ts';
import { forEachStep, type Steps, sortSteps } from '../figures/steps.ts';

/** Parameters of BM25+: saturation of frequent words, influence of the length of a text, and the least score. */
const bm25 = { saturation: 1.2, length: 0.7, least: 0.5 };
/** Weights of longer words that begin with or contain a word of the query, and of misspelt ones; its own is 1. */
const weights = { longer: 0.375, fuzzy: 0.45 };
/** Shorter words must match exactly, because one different letter makes another word. */
const minLength = { prefix: 3, fuzzy: 4 };
const maxErrors = 6;
/** How much a match counts in each field: in a name, and in more words. */
const boosts = [3, 1];

/** A word with its nodes in the tree and its list, and an occurrence in it; measured, and rounded up. */
const bytesPerWord = 250;
const bytesPerOccurrence = 9;

/** Chinese and Japanese have no spaces between words, so each of their characters is one. */
const separators =
  /[\n\r\p{Z}\p{P}]+|(?=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}])|(?<=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}])/u;

/** Texts of two fields, added one by one under the numbers 0, 1, 2 and so on. */
export class WordIndex {
  /** Where each word occurs, in order: the number of the text × the number of fields + the field. */
  readonly #words = new SearchableMap<number[]>();
  /** Number of different words of each place, in the same numbering. */
  readonly #lengths: number[] = [];
  /** Sum of the lengths of each field. */
  readonly #totals = boosts.map(() => 0);
  #wordCount = 0;
  #occurrences = 0;

  /** Estimated. */
  get bytes(): number {
    const occurrences = this.#occurrences * bytesPerOccurrence;
    return this.#wordCount * bytesPerWord + occurrences + this.#lengths.length * 8;
  }

  /** @param texts one for each field */
  add(texts: readonly string[]): void {
    for (const field of boosts.keys()) {
      const words = (texts[field] ?? '').split(separators);
      const length = new Set(words).size;
      const place = this.#lengths.push(length) - 1;
      this.#totals[field] = (this.#totals[field] ?? 0) + length;
      for (const word of words.map(foldedName)) if (word !== '') this.#addWord(word, place);
    }
  }

  #addWord(word: string, place: number): void {
    this.#occurrences += 1;
    const places = this.#words.get(word);
    if (places) {
      places.push(place);
      return;
    }
    this.#wordCount += 1;
    this.#words.set(word, [place]);
  }

  /**
   * The most relevant first.
   * @param fuzzy the share of the letters of a word that may be wrong
   * @param within whether words that contain a word of the query are found too
   */
  *search(query: string, fuzzy: number, within = false): Steps<number[]> {
    const words = query.split(separators).map(foldedName);
    let scores: Scores | undefined;
    for (const word of words.filter((word) => word !== '')) {
      const similar = yield* this.#similarTo(word, fuzzy);
      if (within) yield* this.#addContaining(word, similar);
      const ofWord = yield* this.#scoresOf(similar);
      scores = scores ? yield* sumOfBoth(scores, ofWord) : ofWord;
      // To look for the other words would take the longest where none is similar.
      if (scores.size === 0) return [];
    }
    const sorted = yield* sortSteps([...(scores ?? [])], ([, a], [, b]) => b - a);
    return sorted.map(([number]) => number);
  }

  /** The score of every text that has one of these words. */
  *#scoresOf(similar: SimilarWords): Steps<Scores> {
    const scores: Scores = new Map();
    for (const { places, weight } of similar.values()) {
      yield;
      for (const field of boosts.keys()) yield* this.#addScores(scores, field, places, weight);
    }
    return scores;
  }

  /** The words like a word of the query: the word itself, those that begin with it, and misspelt ones. */
  *#similarTo(word: string, fuzzy: number): Steps<SimilarWords> {
    const { length } = word;
    const similar: SimilarWords = new Map();
    const add = (other: string, places: readonly number[], weight: number) => {
      if (!similar.has(other)) similar.set(other, { places, weight });
    };
    const same = this.#words.get(word);
    if (same) add(word, same, 1);
    if (length >= minLength.prefix)
      for (const [longer, places] of this.#words.atPrefix(word))
        add(longer, places, weightOfLonger(longer, word));
    const errors = length < minLength.fuzzy ? 0 : Math.min(maxErrors, Math.round(length * fuzzy));
    if (errors === 0) return similar;
    for (const words of branchesOf(this.#words)) {
      for (const [other, [places, distance]] of words.fuzzyGet(word, errors))
        add(other, places, (weights.fuzzy * other.length) / (other.length + distance));
      yield;
    }
    return similar;
  }

  /** Adds the words that contain a word of the query, as "telephone" contains "phone"; too many contain a short one. */
  *#addContaining(word: string, similar: SimilarWords): Steps<void> {
    if (word.length < minLength.fuzzy) return;
    for (const words of branchesOf(this.#words)) {
      for (const [longer, places] of words)
        if (longer.includes(word) && !similar.has(longer))
          similar.set(longer, { places, weight: weightOfLonger(longer, word) });
      yield;
    }
  }

  *#addScores(
    scores: Scores,
    field: number,
    places: readonly number[],
    weight: number,
  ): Steps<void> {
    const fields = boosts.length;
    const frequencies = new Map<number, number>();
    yield* forEachStep(places, (place) => {
      if (place % fields === field) frequencies.set(place, (frequencies.get(place) ?? 0) + 1);
    });
    const [count, matching] = [this.#lengths.length / fields, frequencies.size];
    const rarity = Math.log(1 + (count - matching + 0.5) / (matching + 0.5));
    const averageLength = (this.#totals[field] ?? 0) / count;
    const factor = weight * (boosts[field] ?? 0) * rarity;
    yield* forEachStep(frequencies, ([place, frequency]) => {
      const { saturation, length, least } = bm25;
      const lengthShare = (length * (this.#lengths[place] ?? 0)) / averageLength;
      const damping = saturation * (1 - length + lengthShare);
      const score = least + (frequency * (saturation + 1)) / (frequency + damping);
      const text = Math.floor(place / fields);
      scores.set(text, (scores.get(text) ?? 0) + factor * score);
    });
  }
}

const weightOfLonger = ({ length }: string, word: string): number =>
  (weights.longer * length) / (length + 0.3 * (length - word.length));

/** The words of a tree, one branch after the other. */
function* branchesOf({ _tree: tree }: SearchableMap<number[]>) {
  for (const start of tree.keys()) {
    const branch: typeof tree = new Map();
    branch.set(start, tree.get(start) ?? new Map());
    yield new SearchableMap(branch);
  }
}

interface SimilarWord {
  places: readonly number[];
  /** How much it counts, compared with the word itself. */
  weight: number;
}
type SimilarWords = Map<string, SimilarWord>;

/** By the number of the text. */
type Scores = Map<number, number>;

function* sumOfBoth(one: Scores, other: Scores): Steps<Scores> {
  const both: Scores = new Map();
  yield* forEachStep(other, ([number, score]) => {
    const known = one.get(number);
    if (known !== undefined) both.set(number, known + score);
  });
  return both;
}
