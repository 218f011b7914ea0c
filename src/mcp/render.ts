/**
 * Renders structured data as text, for hosts that show the model only text. A list of flat records becomes a
 * table; nested data is indented.
 */

import { quote } from '../text/untrusted-text.ts';
import { isObject, type JsonObject } from '../values.ts';

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null;
const isFlatList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.every(isScalar);
function isFlatRow(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  for (const name in value) {
    const inner = value[name];
    if (!isScalar(inner) && !isFlatList(inner)) return false;
  }
  return true;
}
/** Other records by their id and name only. */
const isReferenceList = (value: unknown): value is JsonObject[] =>
  Array.isArray(value) &&
  value.every(
    (it) => isObject(it) && Object.keys(it).every((name) => name === 'id' || name === 'name'),
  );
/** Whether a record fits one table row: scalars, or records of scalars such as amounts by currency. */
function isTableRow(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  for (const name in value) if (!isCell(value[name])) return false;
  return true;
}
const isCell = (value: unknown): boolean =>
  isScalar(value) ||
  isFlatList(value) ||
  isReferenceList(value) ||
  (isObject(value) && Object.values(value).every(isScalar));

/** One field per line. */
export function render(data: JsonObject): string {
  const lines: string[] = [];
  for (const name in data) writeField(lines, name, data[name], '');
  return lines.join('\n');
}

/** Names that only the top level of an answer uses. */
const reservedNames = new Set(['outcome', 'change_id', 'confirm']);

/** A field name at the start of a line, quoted if it could be mistaken for other syntax. */
const label = (name: string, indent: string): string =>
  name.includes(':') || (indent !== '' && reservedNames.has(name)) ? quote(name) : name;

function writeField(lines: string[], name: string, value: unknown, indent: string): void {
  if (value === undefined) return;
  if (isScalar(value)) lines.push(`${indent}${label(name, indent)}: ${block(value, indent)}`);
  else if (isFlatList(value)) writeFlatList(lines, name, value, indent);
  else if (Array.isArray(value)) writeList(lines, name, value, indent);
  else if (isFlatRow(value)) lines.push(`${indent}${label(name, indent)}: ${pairs(value)}`);
  else if (isObject(value)) {
    lines.push(`${indent}${label(name, indent)}:`);
    for (const inner in value) writeField(lines, inner, value[inner], `${indent}  `);
  }
}

/** On one line, unless a comma in a text would be ambiguous. */
function writeFlatList(lines: string[], name: string, list: unknown[], indent: string): void {
  const texts = list.map(inline);
  if (texts.some((text) => text.includes(', ')))
    lines.push(
      `${indent}${label(name, indent)}:`,
      ...texts.map((text) => `${indent}    > ${text}`),
    );
  else lines.push(`${indent}${label(name, indent)}: ${texts.join(', ') || '[]'}`);
}

function writeList(lines: string[], name: string, list: unknown[], indent: string): void {
  lines.push(`${indent}${label(name, indent)}:`);
  if (list.every(isTableRow)) {
    writeTable(lines, list, indent);
    return;
  }
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

function writeTable(lines: string[], rows: readonly JsonObject[], indent: string): void {
  const columns = tableColumns(rows);
  lines.push(indent + notAField(columns.map(escapeCell).join('|')));
  for (const row of rows) {
    let line = indent;
    let border = '';
    for (const name of columns) {
      line += border + cell(row[name]);
      border = '|';
    }
    lines.push(notAField(line));
  }
}

/** Quotes the first cell if it looks like a field name or a bullet. */
const notAField = (line: string): string =>
  /^\s*(?:[\w.-]{1,60}:(?:\s|$)|[•*#>-]\s)/.test(line) ? `> ${line}` : line;

/** In the order of the rows: a column that the first rows lack comes after the one it follows in its own row. */
export function tableColumns(rows: readonly JsonObject[]): string[] {
  const columns: string[] = [];
  const known = new Set<string>();
  for (const row of rows) {
    let before: string | undefined;
    for (const name in row) {
      if (!known.has(name))
        columns.splice(before === undefined ? 0 : columns.indexOf(before) + 1, 0, name);
      known.add(name);
      before = name;
    }
  }
  return columns;
}

/** Escapes `|`, and a trailing backslash that would escape the cell's border. */
const escapeCell = (text: string): string =>
  text.includes('|') || text.endsWith('\\') ? text.replace(/[\\|]/g, '\\$&') : text;

const needsEscape = /[\n|\\]/;

/** A table cell on one line. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  // Nearly all cells.
  if (typeof value === 'string' && !needsEscape.test(value)) return value;
  return escapeCell(onOneLine(value));
}

/** The text of a cell: a nested record as pairs of names and values, a list with commas or semicolons between. */
export function onOneLine(value: unknown): string {
  if (isObject(value)) return pairs(value);
  return isReferenceList(value) ? value.map(pairs).join('; ') : flat(value);
}

/** A scalar or a list of scalars, on one line; with semicolons where a comma in a text would be ambiguous. */
function flat(value: unknown): string {
  if (!Array.isArray(value)) return inline(value);
  const texts = value.map(inline);
  return texts.join(texts.some((text) => text.includes(', ')) ? '; ' : ', ');
}

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
