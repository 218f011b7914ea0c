/** Rows as CSV for spreadsheet programs: RFC 4180, with the byte order mark by which Excel recognizes UTF-8. */
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import type { Wording } from '../text/untrusted-text.ts';
import { isObject, type JsonObject } from '../values.ts';
import { onOneLine, tableColumns } from './render.ts';

const byteOrderMark = '\uFEFF';

/**
 * What a spreadsheet program may take for the start of a formula (OWASP, "CSV injection"): at the start of a cell,
 * and after what such a program may take for the end of one.
 */
const formulaStart = /(?<=^|[;\t\r\n])(["'\p{Zs}]*)(?=[=+\-@\t\r＝＋－＠])/gu;

/** A file of the rows, followed by a text with the notes, if there are any. */
export function csvContents(
  uri: string,
  rows: readonly JsonObject[],
  notes: readonly Wording[],
): ReadResourceResult {
  const csv = { uri, mimeType: 'text/csv', text: toCsv(rows) };
  const text = { uri: `${uri}#notes`, mimeType: 'text/plain', text: notes.join('\n') };
  return { contents: notes.length > 0 ? [csv, text] : [csv] };
}

/** One line for each row, after one with the names of the columns. A nested record takes a column for each field. */
export function toCsv(records: readonly JsonObject[]): string {
  const rows = records.map(withoutNesting);
  const columns = tableColumns(rows);
  const lines = [columns.map(cell), ...rows.map((row) => columns.map((name) => cell(row[name])))];
  return byteOrderMark + lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}

/** Amounts by currency become "value EUR" and "value USD". */
const withoutNesting = (row: JsonObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      isObject(value)
        ? Object.entries(value).map(([inner, one]) => [`${name} ${inner}`, one])
        : [[name, value]],
    ),
  );

/** Numbers and truth values cannot be formulas; every text can, in any field. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return quoted(withoutFormula(onOneLine(value) ?? JSON.stringify(value)));
}

/** An apostrophe at its start makes a cell a text. */
const withoutFormula = (text: string): string => text.replace(formulaStart, "'$1");

const quoted = (text: string): string =>
  /[",;'\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
