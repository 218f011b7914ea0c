import type { CallToolResult } from '@modelcontextprotocol/server';
import { Verbatim, type Wording, wording } from '../text/untrusted-text.ts';
import { describeUnknownCurrencies, pageReasons, withCoverageFirst } from '../tool-kit/answers.ts';
import type { Answer } from '../tool-kit/define-tool.ts';
import { fieldOf, isObject, type JsonObject } from '../values.ts';
import { render } from './render.ts';
import { cleanedRow, loadConverter } from './text.ts';

/** Maximum tokens of an answer, as text and as structured content; the target is a quarter of it. */
const tokenCap = 10_000;
/** Below this many characters no estimate is needed: the structured form is at most three times the text. */
const minEstimateLength = 7_000;

/**
 * Converts an answer to a protocol result: the same facts as text and as structured content. A result that is
 * too long is cut at a row, with a note.
 */
export async function toResult(answer: Answer): Promise<CallToolResult> {
  let whole = writeResult(answer);
  if (await loadConverter()) whole = writeResult(answer);
  if (answer.uncut || fits(whole, answer.rows?.aim)) return whole;
  const { rows } = answer;
  if (!rows) return pruned(answer);
  const fewer = asManyRowsAsFit(answer, rows);
  if (fewer) return fewer;
  // A single row does not fit, so lists inside the record are cut.
  return rows.aim !== undefined && fits(whole)
    ? writeResult(rows.keep(1))
    : pruned(rows.count > 1 ? rows.keep(1) : answer);
}

/** One record as text, under the same rules as every answer. */
export async function recordText(title: Wording, record: JsonObject): Promise<string> {
  return textOf(await toResult({ summary: wording`# ${title}`, data: record }));
}

export const textOf = ({ content: [part] }: CallToolResult): string =>
  part?.type === 'text' ? part.text : '';

/** The answer with as many rows as fit, at least one; `undefined` if not even that fits. */
function asManyRowsAsFit(
  answer: Answer,
  { aim, count }: NonNullable<Answer['rows']>,
): CallToolResult | undefined {
  let [low, high] = [0, count];
  let best: CallToolResult | undefined;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const shorter = writeResult(cutToRows(answer, middle));
    if (fits(shorter, aim)) {
      best = shorter;
      low = middle + 1;
    } else high = middle;
  }
  return low > 1 ? best : undefined;
}

function cutToRows(answer: Answer, count: number): Answer {
  const shorter = answer.rows?.keep(count) ?? answer;
  // An answer that is filled with rows says itself how many of all it shows.
  if (answer.rows?.aim !== undefined) return shorter;
  return withNote(shorter, wording`Cut to ${count} rows: more would be too long to read.`);
}

const withNote = (answer: Answer, note: Wording): Answer => ({
  ...answer,
  notes: [...(answer.notes ?? []), note],
});

/** With fewer and fewer entries of every nested list, until the answer fits. */
function pruned(answer: Answer): CallToolResult {
  for (const entries of [40, 20, 10, 5, 2, 1, 0]) {
    const note = wording`Cut: lists inside are shown up to ${entries} entries, and texts shortened.`;
    const data = pruneFields(answer.data, entries);
    const shorter = writeResult(withNote({ ...answer, data }, note));
    if (fits(shorter)) return shorter;
  }
  const notes = [wording`Too long to show: ask for less at once.`];
  const data = withRowsCounted(withoutRecords(answer.data));
  return writeResult({ summary: answer.summary, data, notes });
}

const maxPrunedText = 600;
const maxPrunedFields = 200;

function prune(value: unknown, entries: number): unknown {
  if (typeof value === 'string')
    return value.length > maxPrunedText ? `${value.slice(0, maxPrunedText)}…` : value;
  if (value instanceof Verbatim) return value.cutTo(maxPrunedText);
  if (Array.isArray(value)) return value.slice(0, entries).map((entry) => prune(entry, entries));
  return isObject(value) ? pruneFields(value, entries) : value;
}

function pruneFields(value: JsonObject, entries: number): JsonObject {
  const fields = Object.entries(value).slice(0, maxPrunedFields);
  return withRowsCounted(
    Object.fromEntries(fields.map(([name, inner]) => [name, prune(inner, entries)])),
  );
}

/** Where rows or records were cut, says how many are shown now. */
function withRowsCounted(list: JsonObject): JsonObject {
  const { shown, rows, page, records } = list;
  if (Array.isArray(rows) && isMore(shown, rows)) return { ...list, shown: rows.length };
  if (!isObject(page) || !Array.isArray(records) || !isMore(page.shown, records)) return list;
  const { next: _next, ...counted } = page;
  const next = records.length > 0 ? { next: Number(page.from) + records.length } : {};
  return { ...list, page: { ...counted, shown: records.length, ...next } };
}

const isMore = (shown: unknown, rows: readonly unknown[]): boolean =>
  typeof shown === 'number' && shown > rows.length;

/** The fields that output schemas require, without record data. */
const withoutRecords = (data: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      const isRecord = isObject(value) && !(value instanceof Verbatim);
      const isKept = !isRecord || name === 'coverage' || name === 'page';
      return [name, isKept ? prune(value, 0) : {}];
    }),
  );

function writeResult(answer: Answer): CallToolResult {
  const summary = withCoverageFirst(answer);
  const facts = cleanedRow(answer.data);
  const { notes: given = [], unknownCurrencies } = answer;
  const notes = unknownCurrencies
    ? [...given, ...describeUnknownCurrencies(unknownCurrencies)]
    : given;
  const structuredContent = { summary, ...facts, ...(notes.length > 0 && { notes }) };
  const lines = [summary, render(newFacts(facts, summary)), ...notes];
  return { content: [{ type: 'text', text: lines.join('\n') }], structuredContent };
}

/** Older than this, an answer says in words when its records were read. */
const oldAfterMs = 300_000;

/**
 * For the text: says what was read only where it is not everything, or not of now, and where to go on only where the
 * summary does not. Structured content always has both.
 */
function newFacts({ page, coverage, ...facts }: JsonObject, summary: Wording): JsonObject {
  const next = fieldOf(page, 'next');
  const isToldPage = next === undefined || summary.includes(`from ${next}.`);
  const isWhole =
    fieldOf(coverage, 'complete') === true || pageReasons.has(fieldOf(coverage, 'reason'));
  const isFresh = Date.now() - Date.parse(String(fieldOf(coverage, 'asOf'))) <= oldAfterMs;
  return {
    ...facts,
    ...(isToldPage ? {} : { page }),
    ...(isWhole && isFresh ? {} : { coverage }),
  };
}

function fits(result: CallToolResult, tokens = tokenCap): boolean {
  const text = textOf(result);
  if (text.length < minEstimateLength * (tokens / tokenCap)) return true;
  return (
    estimateTokens(text) <= tokens &&
    estimateTokens(JSON.stringify(result.structuredContent)) <= tokens
  );
}

/** Words, up to three digits, up to four marks or control characters, spaces that begin no word, and other characters. */
const pieces = /[A-Z]*[a-z]+|[A-Z]+|\d{1,3}|[^ A-Za-z\d\u0080-\uffff]{1,4}| {2,}|[\u0080-\uffff]/g;

/**
 * An upper estimate of the tokens of a text. o200k_base splits where the kind of character changes (an id of
 * 20 letters and digits is 12 tokens, a word of that length 3), so pieces count more than length. The weights
 * were fitted on answers of every list tool: never below the true number, at most 1.5 times it.
 */
function estimateTokens(text: string): number {
  let tokens = 0;
  for (const piece of text.match(pieces) ?? []) {
    if (/^[A-Za-z]/.test(piece)) tokens += 0.75 + 0.25 * piece.length;
    else tokens += piece > '\u024f' ? 1.5 : 1;
  }
  return Math.ceil(tokens * 1.15);
}
