/** Structured data as text: a list of flat records becomes a table; nested data is indented. */

import { formatAmount, formatNumber, isCurrencyCode, unknownCurrency } from '../figures/money.ts';
import { quote } from '../text/untrusted-text.ts';
import { isObject, type JsonObject, setField } from '../values.ts';

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;
const isFlatList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.every(isScalar);

/** One field per line. */
export function render(data: JsonObject): string {
  const lines: string[] = [];
  for (const name in data) writeField(lines, name, data[name], '');
  return lines.join('\n');
}

/** Names that only the top level of an answer uses. */
const reservedNames = new Set(['outcome', 'change_id', 'confirm']);

/** The name is quoted if it could be mistaken for other syntax. */
function writeField(lines: string[], name: string, value: unknown, indent: string): void {
  if (value === undefined) return;
  const isUnclear = name.includes(':') || (indent !== '' && reservedNames.has(name));
  const start = `${indent}${isUnclear ? quote(name) : name}:`;
  if (typeof value !== 'object' || value === null) lines.push(`${start} ${block(value, indent)}`);
  else if (Array.isArray(value)) writeList(lines, start, value, indent);
  else if (isObject(value)) writeRecord(lines, start, value, indent);
}

function writeRecord(lines: string[], start: string, value: JsonObject, indent: string): void {
  const fields = Object.values(value);
  if (fields.every((inner) => isScalar(inner) || isFlatList(inner))) {
    lines.push(`${start} ${pairs(value)}`);
    return;
  }
  lines.push(start);
  for (const inner in value) writeField(lines, inner, value[inner], `${indent}  `);
}

/** On one line, unless a comma in a text would be ambiguous. */
function writeFlatList(lines: string[], start: string, list: unknown[], indent: string): void {
  const texts = list.map(inline);
  if (texts.some((text) => text.includes(', ')))
    lines.push(start, ...texts.map((text) => `${indent}    > ${text}`));
  else lines.push(`${start} ${texts.join(', ') || '[]'}`);
}

function writeList(lines: string[], start: string, list: unknown[], indent: string): void {
  const table = list.length > 0 && list.every(isObject) ? tableLines(list, indent) : undefined;
  if (table) {
    lines.push(start, ...table);
    return;
  }
  if (list.every(isScalar)) {
    writeFlatList(lines, start, list, indent);
    return;
  }
  lines.push(start);
  for (const entry of list) {
    if (isObject(entry)) writeEntry(lines, entry, indent);
    else lines.push(`${indent}- ${Array.isArray(entry) ? JSON.stringify(entry) : inline(entry)}`);
  }
}

function writeEntry(lines: string[], entry: JsonObject, indent: string): void {
  const first = lines.length;
  for (const name in entry) writeField(lines, name, entry[name], `${indent}  `);
  const head = lines[first];
  if (head !== undefined) lines[first] = `${indent}- ${head.slice(indent.length + 2)}`;
}

/** A line for the names of the columns, and one for each row; `undefined` if a value does not fit a cell. */
function tableLines(rows: readonly JsonObject[], indent: string): string[] | undefined {
  const columns = tableColumns(rows);
  const lines = [tableLine(columns, indent)];
  for (const row of rows) {
    const cells: string[] = [];
    for (const name of columns) {
      const value = row[name] ?? '';
      const text = typeof value === 'object' ? onOneLine(value) : String(value);
      if (text === undefined) return undefined;
      cells.push(text);
    }
    lines.push(tableLine(cells, indent));
  }
  return lines;
}

/** What a cell cannot have as it is. */
const special = /[\n|\\]/;

/** Marks the first cell if it looks like a field name or a bullet. */
function tableLine(cells: readonly string[], indent: string): string {
  const isPlain = !special.test(cells.join(''));
  const line = indent + (isPlain ? cells : cells.map(escapeCell)).join('|');
  const isField = line.includes(':') && /^\s*[\w.-]{1,60}:(?:\s|$)/.test(line);
  return isField || /^\s*[•*#>-]\s/.test(line) ? `> ${line}` : line;
}

/** On one line; escapes `|`, and a trailing backslash that would escape the cell's border. */
function escapeCell(value: string): string {
  const text = inline(value);
  return text.includes('|') || text.endsWith('\\') ? text.replace(/[\\|]/g, '\\$&') : text;
}

/** In the order of the rows: a column that the first rows lack comes after the one it follows in its own row. */
export function tableColumns(rows: readonly JsonObject[]): string[] {
  const columns: string[] = [];
  const known = new Set<string>();
  for (const row of rows) {
    let before: string | undefined;
    for (const name in row) {
      if (!known.has(name)) {
        columns.splice(before === undefined ? 0 : columns.indexOf(before) + 1, 0, name);
        known.add(name);
      }
      before = name;
    }
  }
  return columns;
}

/**
 * The text of a cell: a record of scalars as pairs of names and values, a list with commas or semicolons between, and
 * nothing for no value; `undefined` for what is nested more deeply.
 */
export function onOneLine(value: unknown): string | undefined {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return inline(value);
  if (isObject(value)) return Object.values(value).every(isScalar) ? pairs(value) : undefined;
  if (isFlatList(value)) return flat(value.map(inline));
  return isReferenceList(value) ? value.map(pairs).join('; ') : undefined;
}

/** Other records by their id and name only. */
const isReferenceList = (value: unknown): value is JsonObject[] =>
  Array.isArray(value) &&
  value.every(
    (it) => isObject(it) && Object.keys(it).every((name) => name === 'id' || name === 'name'),
  );

/** With semicolons where a comma in a text would be ambiguous. */
const flat = (texts: readonly string[]): string =>
  texts.join(texts.some((text) => text.includes(', ')) ? '; ' : ', ');

const inline = (value: unknown): string =>
  typeof value === 'string' && value.includes('\n')
    ? value.replace(/\s+/g, (blanks) => (blanks.includes('\n') ? ' ⏎ ' : blanks))
    : String(value);

/** Multi-line text keeps its lines, each marked so that it cannot be mistaken for a field. */
const block = (value: unknown, indent: string): string =>
  typeof value === 'string' && value.includes('\n')
    ? `\n${indent}    > ${value.replaceAll('\n', `\n${indent}    > `)}`
    : String(value);

const pairs = (row: JsonObject): string =>
  Object.entries(row)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${inPair(name)} ${Array.isArray(value) ? value.map(inPair).join(' + ') || '[]' : inPair(value)}`,
    )
    .join(', ');

/** Quoted where it could be mistaken for several pairs, or for a quoted text. */
function inPair(value: unknown): string {
  const text = inline(value);
  return /^"|[,;+] /.test(text) ? `"${text.replace(/[\\"]/g, '\\$&')}"` : text;
}

/**
 * The data of an answer as a person reads it in the text: names in words, amounts as 12,345.67 USD, times to the minute, ids
 * last. Structured content keeps the keys and values.
 * @param currency of amounts whose record has none of its own
 * @param hasAmounts false where numbers under names of amounts count or compare them
 */
export function inWords(record: JsonObject, currency?: unknown, hasAmounts = true): JsonObject {
  const own = record.currency ?? currency;
  const other = nameWithoutMoney(record);
  const fields: JsonObject = {};
  const ids: JsonObject = {};
  let isCurrencyTold = false;
  for (const name in record) {
    const value = record[name];
    if (name === 'shown' && value === record.total) continue;
    const { words, isId, isAmount } = meaningOf(name);
    const isMoney = hasAmounts && isAmount && name !== other && typeof value === 'number';
    const shown = isMoney ? amountInWords(value, own) : valueInWords(name, value, own);
    const isTaken = words !== name && Object.hasOwn(record, words);
    setField(isId ? ids : fields, isTaken ? name : words, shown);
    isCurrencyTold ||= isMoney;
  }
  if (!isCurrencyTold || record.currency === undefined) return Object.assign(fields, ids);
  const { currency: _, ...others } = fields;
  return Object.assign(others, ids);
}

/** Where rows are `shown`, `total` counts them; the amount of a discount is a percentage where its `type` says so. */
const nameWithoutMoney = ({ shown, type }: JsonObject): string | undefined =>
  shown !== undefined ? 'total' : type && /^percent/i.test(String(type)) ? 'amount' : undefined;

const amountInWords = (amount: number, currency: unknown): string =>
  typeof currency === 'string' ? formatAmount(amount, currency) : formatNumber(amount);

function valueInWords(name: string, value: unknown, currency: unknown): unknown {
  if (typeof value === 'string') {
    if (value[10] === 'T' && isoTime.test(value)) return value.replace(isoTime, '$1 $2 UTC$3');
    return choices.has(name) ? spaced(value) : value;
  }
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const entry of value) list.push(valueInWords(name, entry, currency));
    return list;
  }
  if (!isObject(value)) return value;
  if (name.startsWith('unknown') || shares.test(name)) return inWords(value, undefined, false);
  return amountsInWords(value) ?? inWords(value, currency);
}

/** Amounts by currency; `undefined` of anything else. */
function amountsInWords(amounts: JsonObject): string | undefined {
  const texts: string[] = [];
  for (const code in amounts) {
    const amount = amounts[code];
    if (typeof amount !== 'number') return undefined;
    if (!isCurrencyCode(code) && code !== unknownCurrency) return undefined;
    texts.push(formatAmount(amount, code));
  }
  return texts.length > 0 ? texts.join(' and ') : undefined;
}

const isoTime = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z( \(now\))?$/;
/** Fields whose values are names of this server. */
const choices: ReadonlySet<string> = new Set(['step', 'move', 'movement', 'deals', 'code']);
/** Names of numbers by currency that are no amounts. */
const shares = /(?<!dis)count|percent|rate|days|margin|duration|^coverage$/i;
const amountName =
  /^(?:oneTime|monthly|yearly|quarterly|setup|total|list|net|amount|value|valueChange|revenue|price|cost|profit)$|(?:Value|ValueChange|OneTime|Monthly|Yearly|Revenue|Price|Cost|Profit|Stake)$/;

/** What the name of a field says. */
interface NameMeaning {
  words: string;
  isId: boolean;
  isAmount: boolean;
}

/** Of each name: the rows of all lists have the same few. */
const meanings = new Map<string, NameMeaning>();
const maxMeanings = 1_000;
const otherWords: ReadonlyMap<string, string> = new Map([
  ['oneTime', 'one-time'],
  ['weightedOneTime', 'weighted one-time'],
  ['firstYearValue', 'first-year value'],
]);

function meaningOf(name: string): NameMeaning {
  const known = meanings.get(name);
  if (known) return known;
  const meaning = {
    words: otherWords.get(name) ?? spaced(name),
    isId: name === 'id' || /[a-z]Id$/.test(name),
    isAmount: amountName.test(name) && !/^(unknown|without)/.test(name),
  };
  if (meanings.size < maxMeanings) meanings.set(name, meaning);
  return meaning;
}

/** "weightedValue" is "weighted value"; anything but camel case stays. */
const spaced = (name: string): string =>
  /^[a-z]+(?:[A-Z][a-z]+)+$/.test(name)
    ? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    : name;
