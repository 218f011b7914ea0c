/** Full-text search by relevance (BM25+), over words that may be cut or misspelt. */
import SearchableMap from 'minisearch/SearchableMap';
import { forEachStep, type Steps, sortSteps } from '../figures/steps.ts';

export interface WordSearch {
  /** The query's words with up to this share of their letters wrong are found too. */
  fuzzy: number;
}

/** Parameters of BM25+: saturation of frequent words, influence of the length of a text, and the least score. */
const bm25 = { saturation: 1.2, length: 0.7, least: 0.5 };
/** Weights of words that begin with a word of the query, and of misspelt ones, compared with the word itself. */
const weights = { prefix: 0.375, fuzzy: 0.45 };
/** Shorter words must match exactly, because one different letter makes another word. */
const minLength = { prefix: 3, fuzzy: 4 };
const maxErrors = 6;

/** A word and its nodes in the tree; measured, and rounded up. */
const bytesPerWord = 250;

const separators = /[\n\r\p{Z}\p{P}]+/u;

/** Texts of several fields, added one by one under the numbers 0, 1, 2 and so on. */
export class WordIndex {
  /** The number of each word. */
  readonly #words = new SearchableMap<number>();
  readonly #fields: readonly FieldIndex[];
  readonly #normalise: (word: string) => string;
  #wordCount = 0;
  #textCount = 0;

  /** @param boosts how much a match counts in each field */
  constructor(boosts: readonly number[], normalise: (word: string) => string) {
    this.#fields = boosts.map((boost) => new FieldIndex(boost));
    this.#normalise = normalise;
  }

  /** Estimated. */
  get bytes(): number {
    return this.#fields.reduce((sum, field) => sum + field.bytes, this.#wordCount * bytesPerWord);
  }

  /** @param texts one for each field */
  add(texts: readonly string[]): void {
    this.#fields.forEach((field, at) => {
      const words = (texts[at] ?? '').split(separators);
      field.startText(new Set(words).size);
      for (const word of words.map(this.#normalise))
        if (word !== '') field.add(this.#numberOf(word));
    });
    this.#textCount += 1;
  }

  #numberOf(word: string): number {
    return this.#words.fetch(word, () => this.#wordCount++);
  }

  /** Numbers of the texts that match every word of the query, the most relevant first. */
  *search(query: string, { fuzzy }: WordSearch): Steps<number[]> {
    const words = query.split(separators).map(this.#normalise);
    let scores: Scores | undefined;
    for (const word of words.filter((word) => word !== '')) {
      const ofWord = yield* this.#scoresOf(word, fuzzy);
      scores = scores ? yield* sumOfBoth(scores, ofWord) : ofWord;
      // To look for the other words would take the longest where none is similar.
      if (scores.size === 0) return [];
    }
    const sorted = yield* sortSteps([...(scores ?? [])], ([, a], [, b]) => b - a);
    return sorted.map(([number]) => number);
  }

  /** The score of every text that has the word, or a similar one. */
  *#scoresOf(word: string, fuzzy: number): Steps<Scores> {
    const scores: Scores = new Map();
    for (const { number, weight } of yield* this.#similarTo(word, fuzzy)) {
      yield;
      for (const field of this.#fields)
        yield* field.addScores(scores, number, weight, this.#textCount);
    }
    return scores;
  }

  *#similarTo(word: string, fuzzy: number): Steps<SimilarWord[]> {
    const { length } = word;
    const number = this.#words.get(word);
    const similar: SimilarWord[] = number === undefined ? [] : [{ number, weight: 1 }];
    const errors = length < minLength.fuzzy ? 0 : Math.min(maxErrors, Math.round(length * fuzzy));
    const misspelt = yield* this.#misspelt(word, errors);
    misspelt.delete(word);
    if (length >= minLength.prefix) {
      for (const [longer, number] of this.#words.atPrefix(word)) {
        if (longer === word) continue;
        misspelt.delete(longer);
        const rest = longer.length - length;
        const weight = (weights.prefix * longer.length) / (longer.length + 0.3 * rest);
        similar.push({ number, weight });
      }
    }
    for (const [other, [number, distance]] of misspelt)
      similar.push({
        number,
        weight: (weights.fuzzy * other.length) / (other.length + distance),
      });
    return similar;
  }

  /** The words with up to this many different letters: those of one branch of the tree after the other. */
  *#misspelt(word: string, errors: number): Steps<Map<string, FuzzyMatch>> {
    const found = new Map<string, FuzzyMatch>();
    if (errors === 0) return found;
    const { _tree: tree } = this.#words;
    for (const start of tree.keys()) {
      const branch = tree.get(start);
      if (!branch) continue;
      const onlyBranch: typeof tree = new Map();
      onlyBranch.set(start, branch);
      for (const [other, match] of new SearchableMap<number>(onlyBranch).fuzzyGet(word, errors))
        found.set(other, match);
      yield;
    }
    return found;
  }
}

interface SimilarWord {
  number: number;
  /** How much it counts, compared with the word itself. */
  weight: number;
}

type FuzzyMatch = [number: number, distance: number];

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

/**
 * Where each word occurs in one field. The occurrences of all words are in one list, each with the position of the one
 * before of the same word: a map for each word would take five times the memory.
 */
class FieldIndex {
  readonly #boost: number;
  /** The last occurrence of each word. */
  readonly #last: number[] = [];
  readonly #texts = new Numbers();
  readonly #previous = new Numbers();
  /** Number of different words of each text. */
  readonly #lengths = new Numbers();
  #averageLength = 0;

  constructor(boost: number) {
    this.#boost = boost;
  }

  get bytes(): number {
    return this.#texts.bytes + this.#previous.bytes + this.#lengths.bytes + 8 * this.#last.length;
  }

  startText(length: number): void {
    const before = this.#lengths.size;
    this.#lengths.push(length);
    this.#averageLength = (this.#averageLength * before + length) / (before + 1);
  }

  /** Adds a word to the text that was started last. */
  add(word: number): void {
    this.#previous.push(this.#last[word] ?? none);
    this.#last[word] = this.#texts.size;
    this.#texts.push(this.#lengths.size - 1);
  }

  *addScores(scores: Scores, word: number, weight: number, count: number): Steps<void> {
    const frequencies = this.#frequenciesOf(word);
    const matching = frequencies.length;
    const rarity = Math.log(1 + (count - matching + 0.5) / (matching + 0.5));
    yield* forEachStep(frequencies, ({ text, frequency }) => {
      const { saturation, length, least } = bm25;
      const lengthShare = (length * this.#lengths.at(text)) / this.#averageLength;
      const damping = saturation * (1 - length + lengthShare);
      const score = rarity * (least + (frequency * (saturation + 1)) / (frequency + damping));
      scores.set(text, (scores.get(text) ?? 0) + weight * this.#boost * score);
    });
  }

  /** How often the word occurs in each text that has it, in the order of the texts. */
  #frequenciesOf(word: number): { text: number; frequency: number }[] {
    const found: { text: number; frequency: number }[] = [];
    for (let at = this.#last[word] ?? none; at !== none; at = this.#previous.at(at)) {
      const text = this.#texts.at(at);
      const later = found.at(-1);
      if (later?.text === text) later.frequency += 1;
      else found.push({ text, frequency: 1 });
    }
    return found.reverse();
  }
}

/** Before the first occurrence of a word. */
const none = 0xffff_ffff;

/** A list of integers from 0 to 2³² − 1. */
class Numbers {
  #values = new Uint32Array(64);
  size = 0;

  get bytes(): number {
    return this.#values.byteLength;
  }

  at(index: number): number {
    return this.#values[index] ?? none;
  }

  push(value: number): void {
    if (this.size === this.#values.length) {
      const larger = new Uint32Array(Math.ceil(this.size * 1.5));
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.size] = value;
    this.size += 1;
  }
}
