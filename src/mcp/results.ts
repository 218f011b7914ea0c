import type { CallToolResult } from '@modelcontextprotocol/server';
import { Verbatim, type Wording, wording } from '../text/untrusted-text.ts';
import { isPageReason, withCoverageFirst } from '../tool-kit/answers.ts';
import type { Answer } from '../tool-kit/define-tool.ts';
import { fieldOf, isObject } from '../values.ts';
import { render } from './render.ts';
import { cleanedRow, type Markup } from './text.ts';

/** Maximum tokens of an answer, as text and as structured content; the target is a quarter of it. */
const tokenCap = 10_000;
/** Below this many characters no estimate is needed: the structured form is at most three times the text. */
const minEstimateLength = 7_000;

/**
 * Converts an answer to a protocol result: the same facts as text and as structured content. A result that is
 * too long is cut at a row, with a note.
 */
export const toResult = (answer: Answer): Promise<CallToolResult> =>
  withMarkup((markup) => fitToCap(answer, markup));

/** The data of an answer, all of it, cleaned as in every result. */
export const plainData = ({ data }: Answer): Promise<Record<string, unknown>> =>
  withMarkup((markup) => cleanedRow(data, markup));

/** Has the converter from when the first markup was found. */
const converter: Pick<Markup, 'toText'> = {};

/** Cleans again if markup is found before the converter is loaded. */
async function withMarkup<T>(clean: (markup: Markup) => T): Promise<T> {
  const markup: Markup = { ...converter };
  const cleaned = clean(markup);
  if (!markup.found) return cleaned;
  converter.toText = (await import('./html.ts')).htmlToText;
  return clean({ ...converter });
}

/** One record as text, under the same rules as every answer. */
export async function recordText(title: Wording, record: Record<string, unknown>): Promise<string> {
  const { content } = await toResult({ summary: wording`# ${title}`, data: record });
  return content[0]?.type === 'text' ? content[0].text : '';
}

function fitToCap(answer: Answer, markup: Markup): CallToolResult {
  const whole = writeResult(answer, markup);
  const aim = answer.rows?.aim ?? tokenCap;
  if (answer.uncut || fits(whole, aim)) return whole;
  const fewer = asManyRowsAsFit(answer, aim, markup);
  if (fewer) return fewer;
  // A single row does not fit, so lists inside the record are cut.
  return aim < tokenCap && fits(whole, tokenCap)
    ? writeResult(answer.rows?.keep(1) ?? answer, markup)
    : writeResult(pruneAnswer(answer), markup);
}

/** The answer with as many rows as fit, at least one; `undefined` if not even that fits. */
function asManyRowsAsFit(
  answer: Answer,
  tokens: number,
  markup: Markup,
): CallToolResult | undefined {
  let [low, high] = [0, answer.rows?.count ?? 0];
  let best: CallToolResult | undefined;
  while (answer.rows && low < high) {
    const count = Math.floor((low + high) / 2);
    const shorter = writeResult(cutToRows(answer, count), markup);
    if (fits(shorter, tokens)) {
      best = shorter;
      low = count + 1;
    } else high = count;
  }
  return low > 1 ? best : undefined;
}

function cutToRows(answer: Answer, count: number): Answer {
  const shorter = answer.rows?.keep(count) ?? answer;
  // An answer that is filled with rows says itself how many of all it shows.
  if (answer.rows?.aim !== undefined) return shorter;
  const notes = [
    ...(shorter.notes ?? []),
    wording`Cut to ${count} rows: more would be too long to read.`,
  ];
  return { ...shorter, notes };
}

/** Keeps fewer and fewer entries of every nested list until the answer fits. */
function pruneAnswer(answer: Answer): Answer {
  const one = answer.rows && answer.rows.count > 1 ? answer.rows.keep(1) : answer;
  for (
    let entries = 40;
    entries >= 0;
    entries = entries > 1 ? Math.floor(entries / 2) : entries - 1
  ) {
    const data = pruneFields(one.data, entries, 600);
    const notes = [
      ...(one.notes ?? []),
      wording`Cut: lists inside are shown up to ${entries} entries, and texts shortened.`,
    ];
    const shorter = { ...one, data, notes };
    if (fits(writeResult(shorter, {}), tokenCap)) return shorter;
  }
  const notes = [wording`Too long to show: ask for less at once.`];
  return { summary: one.summary, data: withRowsCounted(scalarsOnly(one.data)), notes };
}

function prune(value: unknown, entries: number, characters: number): unknown {
  if (typeof value === 'string') {
    return value.length > characters ? `${value.slice(0, characters)}…` : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Verbatim) return value.cutTo(characters);
  if (Array.isArray(value)) {
    return value.slice(0, entries).map((entry) => prune(entry, entries, characters));
  }
  return pruneFields(value, entries, characters);
}

function pruneFields(value: object, entries: number, characters: number): Record<string, unknown> {
  const fields = Object.entries(value).slice(0, 200);
  const pruned = fields.map(([name, inner]) => [name, prune(inner, entries, characters)] as const);
  return withRowsCounted(Object.fromEntries(pruned));
}

/** Where rows or records were cut, says how many are shown now. */
function withRowsCounted(list: Record<string, unknown>): Record<string, unknown> {
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
function scalarsOnly(data: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(data)) {
    if (Array.isArray(value)) kept[name] = [];
    else if (name === 'coverage' || name === 'page') kept[name] = value;
    else kept[name] = isRecord(value) ? {} : prune(value, 0, 500);
  }
  return kept;
}

const isRecord = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !(value instanceof Verbatim);

function writeResult(answer: Answer, markup: Markup): CallToolResult {
  const { data, notes } = answer;
  const summary = withCoverageFirst(answer);
  const facts = cleanedRow(data, markup);
  const structuredContent = { summary, ...facts, ...(notes?.length ? { notes } : {}) };
  const shown = withoutRepeatedPage(withoutFreshCoverage(facts), summary);
  const lines = [summary, render(shown), ...(notes ?? [])];
  return { content: [{ type: 'text', text: lines.join('\n') }], structuredContent };
}

/** Older than this, an answer says in words when its records were read. */
const oldAfterMs = 300_000;

/** Says what was read only where it is not everything, or not of now: structured content always has it. */
function withoutFreshCoverage(facts: Record<string, unknown>): Record<string, unknown> {
  const { coverage, ...others } = facts;
  const isWhole =
    isObject(coverage) && (coverage.complete === true || isPageReason(coverage.reason));
  if (!isWhole) return facts;
  const readAt = Date.parse(String(coverage.asOf));
  return Date.now() - readAt > oldAfterMs ? facts : others;
}

/** The summary says how many rows are shown, and where to go on. */
function withoutRepeatedPage(
  facts: Record<string, unknown>,
  summary: Wording,
): Record<string, unknown> {
  const { page, ...others } = facts;
  const next = fieldOf(page, 'next');
  return next === undefined || summary.includes(`from ${next}.`) ? others : facts;
}

function fits({ content, structuredContent }: CallToolResult, tokens: number): boolean {
  const text = content[0]?.type === 'text' ? content[0].text : '';
  if (text.length < minEstimateLength * (tokens / tokenCap)) return true;
  return (
    estimateTokens(text) <= tokens && estimateTokens(JSON.stringify(structuredContent)) <= tokens
  );
}

/**
 * An upper estimate of the tokens of a text. o200k_base splits where the kind of character changes (an id of
 * 20 letters and digits is 12 tokens, a word of that length 3), so runs count more than length. The weights
 * were fitted on answers of every list tool: never below the true number, at most 1.5 times it.
 */
function estimateTokens(text: string): number {
  let tokens = 0;
  let before: Kind | undefined;
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    const kind = kindOf(text.charCodeAt(at));
    run = kind === before ? run + 1 : 1;
    tokens += tokenCosts[kind](run, before);
    before = kind;
  }
  return Math.ceil(tokens * 1.15);
}

type Kind = 'lower' | 'upper' | 'digit' | 'space' | 'mark' | 'accented' | 'other';

const letterCost = 0.25;
const pieceCost = 0.75;

/** Tokens added by the character at this position of a run. */
const tokenCosts: Record<Kind, (run: number, before: Kind | undefined) => number> = {
  lower: (run, before) => (run === 1 && before !== 'upper' ? pieceCost + letterCost : letterCost),
  upper: (run) => (run === 1 ? pieceCost + letterCost : letterCost),
  digit: (run) => (run % 3 === 1 ? 1 : 0),
  mark: (run) => (run % 4 === 1 ? 1 : 0),
  // A single space is part of the next word's token; line breaks and indentation are not.
  space: (run) => (run === 2 ? 1 : 0),
  accented: () => 1,
  other: () => 1.5,
};

function kindOf(code: number): Kind {
  if (code >= 0x61 && code <= 0x7a) return 'lower';
  if (code >= 0x41 && code <= 0x5a) return 'upper';
  if (code >= 0x30 && code <= 0x39) return 'digit';
  if (code === 0x20) return 'space';
  if (code < 0x80) return 'mark';
  return code <= 0x24f ? 'accented' : 'other';
}
