/** The rows of an answer as a CSV file, for a person. The address contains the call, so any server process can answer it. */

import type { ReadResourceResult } from '@modelcontextprotocol/server';
import type { ChangeCall } from '../changes/consent.ts';
import { readGranted } from '../lists/known.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { applying, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { describeUnknownCurrencies, withCoverageFirst } from '../tool-kit/answers.ts';
import type { Answer, AnyTool } from '../tool-kit/define-tool.ts';
import { fieldOf, isObject, type JsonObject } from '../values.ts';
import { madeUpNote } from '../views/made-up-note.ts';
import type { JsonSchema } from './listing.ts';
import { onOneLine, tableColumns } from './render.ts';
import { cleanedRow, loadConverter, textOf, toResult } from './results.ts';
import { InvalidParams, loadTool } from './surface.ts';
import { type CallParts, parseArguments } from './tool-run.ts';

/** Rows of one file: more would take too many requests of the tenant's budget. */
const maxRows = 5_000;

/** Arguments that name the first row of a page. */
const positions = ['from', 'deals_from'];

/** Page after page, to the end of its rows. @throws InvalidParams; InvalidArguments; what the tool throws */
export async function readExport(
  { tenant, surface, isMadeUp }: CallParts,
  uri: string,
  call: ChangeCall,
): Promise<ReadResourceResult> {
  const { name, table, size, isJson, given } = readAddress(uri);
  const entry = surface.byName.get(name);
  if (entry?.definition.annotations?.readOnlyHint !== true) {
    const reading = surface.list.filter(({ annotations }) => annotations?.readOnlyHint);
    const known = reading.map(({ name }) => name).join(', ');
    throw new InvalidParams(`No rows to export: known are ${known}`, { uri });
  }
  entry.tool ??= loadTool(name);
  const tool = await entry.tool;
  await readGranted(tenant, 'company', call);
  const { properties = {} } = entry.definition.inputSchema;
  const position = positions.find((name) => properties[name]) ?? '';
  const rows: JsonObject[] = [];
  const answers: Answer[] = [];
  let page = {};
  let found: Table;
  do {
    const asked = { ...sizesOf(properties, size - rows.length), ...given, ...page };
    const args = parseArguments(entry.definition.inputSchema, tool.input, asked);
    const answer = await tool.run(tenant, args, call);
    if (isQuestion(tool, answer)) throw new InvalidParams(textOf(await toResult(answer)), { uri });
    let data = cleanedRow(answer.data);
    if (await loadConverter()) data = cleanedRow(answer.data);
    found = tableOf(answer, data, table);
    // One currency of all rows becomes a column of the file.
    const { currency } = data;
    const shared = typeof currency === 'string' ? { currency } : {};
    rows.push(...found.rows.map((row) => ({ ...shared, ...row })));
    answers.push(answer);
    page = { [position]: found.next };
  } while (position !== '' && found.next !== undefined && rows.length < size);
  const shown = rows.slice(0, size);
  const extent = { ...found, total: found.total ?? rows.length };
  const notes = [
    ...(isMadeUp ? [trusted(madeUpNote)] : []),
    ...notesOn(answers, shown.length, extent, position),
  ];
  if (isJson) {
    const text = `${JSON.stringify({ rows: shown, notes }, undefined, 2)}\n`;
    return withoutSecrets({ contents: [{ uri, mimeType: 'application/json', text }] });
  }
  const csv = { uri, mimeType: 'text/csv', text: toCsv(shown) };
  const text = { uri: `${uri}#notes`, mimeType: 'text/plain', text: notes.join('\n') };
  return withoutSecrets({ contents: notes.length > 0 ? [csv, text] : [csv] });
}

function readAddress(uri: string) {
  const [, path = '', search = ''] = /^cpq:\/\/export\/([^?#]*)\??([^#]*)/.exec(uri) ?? [];
  const { table, size, format, ...given } = Object.fromEntries(new URLSearchParams(search));
  const rows = Number(size ?? maxRows);
  if (!Number.isInteger(rows) || rows < 1)
    throw new InvalidParams('size must be a whole number from 1', { uri });
  return {
    name: path.replace(/\.csv$/, ''),
    table,
    size: Math.min(rows, maxRows),
    isJson: format === 'json',
    given,
  };
}

/** Rows of one answer where its list or its groups have no limit in the schema, and those of a page. */
const defaultRows = 1_000;
const pageRows = 100;

/** As many rows and groups as a tool gives at once. */
function sizesOf(
  properties: Readonly<Record<string, JsonSchema>>,
  left: number,
): Record<string, number> {
  const names = ['size', 'rows', 'groups'].filter((name) => properties[name]);
  return Object.fromEntries(
    names.map((name) => {
      const most = properties[name]?.maximum ?? (name === 'size' ? pageRows : defaultRows);
      return [name, Math.min(most, left)];
    }),
  );
}

/** What is not in the file, and why: of all pages, and each note once. */
function notesOn(
  answers: readonly Answer[],
  read: number,
  { total, next, others = [] }: Table,
  position: string,
): Wording[] {
  const unknown = answers.reduce((sum, { unknownCurrencies = 0 }) => sum + unknownCurrencies, 0);
  const isCut = next !== undefined || (typeof total === 'number' && total > read);
  const cut = wording`The file has ${read} of ${Number(total ?? read)} rows.`;
  const rest = wording`The next ones: the same with ${trusted(position)}=${Number(next)}.`;
  const all = applying([
    ...answers.map((answer) =>
      trusted(withCoverageFirst({ ...answer, summary: wording`` }).trim()),
    ),
    isCut && cut,
    isCut && next !== undefined && position !== '' && rest,
    describeUnknownCurrencies(unknown),
    others.length > 0 && wording`Other tables (table=NAME): ${trusted(others.join(', '))}.`,
    ...answers.flatMap(({ notes = [] }) => notes),
  ]);
  return [...new Set(all)].filter((note) => note !== '');
}

interface Table {
  name: string;
  rows: JsonObject[];
  total?: unknown;
  /** Position of the first row after these. */
  next?: unknown;
  /** Other tables of the answer. */
  others?: readonly string[];
}

const mainTables = ['records', 'rows', 'groups', 'days', 'deals', 'quotes.changed'];

/** Candidates among which a brief asks to choose are not the requested rows. */
const isQuestion = ({ output }: AnyTool, { data }: Answer): boolean =>
  'records' in data && !('page' in data) && !('records' in output.shape);

function tableOf({ summary }: Answer, data: JsonObject, wanted: string | undefined): Table {
  const tables = tablesIn(data);
  const chosen = wanted
    ? tables.find(({ name }) => name === wanted)
    : (tables.find(({ name }) => mainTables.includes(name)) ?? tables[0]);
  const others = tables.filter((it) => it !== chosen).map(({ name }) => name);
  if (chosen) return { ...chosen, others: wanted ? [] : others };
  const known = `There is no such table. Known: ${others.join(', ')}`;
  throw new InvalidParams(others.length === 0 ? `No rows: ${summary}` : known);
}

/** Every list of records in an answer, by its path; `rows` of a record go by the name of the record. */
function tablesIn(data: JsonObject, path = ''): Table[] {
  return Object.entries(data).flatMap(([field, value]): Table[] => {
    const name = path === '' || field !== 'rows' ? [path, field].filter(Boolean).join('.') : path;
    if (Array.isArray(value))
      return value.every(isObject) ? [{ name, rows: value, ...extentOf(field, data) }] : [];
    return isObject(value) ? tablesIn(value, name) : [];
  });
}

/** How many rows a list has in all, and where its next page begins; of other tables nothing is said. */
function extentOf(field: string, { page, total, next }: JsonObject): Pick<Table, 'total' | 'next'> {
  if (field === 'records') return { total: fieldOf(page, 'total'), next: fieldOf(page, 'next') };
  return field === 'rows' ? { total, next } : {};
}

/**
 * What a spreadsheet program may take for the start of a formula (OWASP, "CSV injection"): at the start of a cell,
 * and after what such a program may take for the end of one.
 */
const formulaStart = /(?<=^|[;\t\r\n])(["'\p{Zs}]*)(?=[=+\-@\t\r＝＋－＠])/gu;

/**
 * CSV for spreadsheet programs: RFC 4180, with the byte order mark by which Excel recognizes UTF-8. One line for each row,
 * after one with the names of the columns. A nested record takes a column for each field.
 */
export function toCsv(records: readonly JsonObject[]): string {
  const rows = records.map(withoutNesting);
  const columns = tableColumns(rows);
  const lines = [columns.map(cell), ...rows.map((row) => columns.map((name) => cell(row[name])))];
  return `\uFEFF${lines.map((cells) => `${cells.join(',')}\r\n`).join('')}`;
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
  // An apostrophe at its start makes a cell a text.
  const text = (onOneLine(value) ?? JSON.stringify(value)).replace(formulaStart, "'$1");
  return /[",;'\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
