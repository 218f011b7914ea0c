/** The rows of an answer as a CSV file, for a person. The address contains the call, so any server process can answer it. */
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import type { ChangeCall } from '../changes/consent.ts';
import { readIfPermitted } from '../lists/known.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { withCoverageFirst } from '../tool-kit/answers.ts';
import type { Answer, AnyTool } from '../tool-kit/define-tool.ts';
import { exportPrefix } from '../tool-kit/resources.ts';
import { fieldOf, isObject, type JsonObject } from '../values.ts';
import { parseArguments } from './arguments.ts';
import { csvContents } from './csv.ts';
import { InvalidParams } from './invalid-params.ts';
import type { JsonSchema } from './schema.ts';
import { exportedTools, isReading, type SurfaceEntry } from './surface.ts';
import { cleanedRow, withMarkupConverted } from './text.ts';
import type { CallParts } from './tool-run.ts';

/** Rows of one file: more would take too many requests of the tenant's budget. */
const maxRows = 5_000;

/**
 * Runs the tool that the address names, to the end of its rows.
 * @throws InvalidParams for an unknown tool, or an answer without rows; InvalidArguments; what the tool throws
 */
export async function readExport(
  { tenant, surface }: Pick<CallParts, 'tenant' | 'surface'>,
  uri: string,
  call: ChangeCall,
): Promise<ReadResourceResult> {
  const { name, table, size, given } = readAddress(uri);
  const entry = surface.find(name);
  if (!entry || !isReading(entry))
    throw new InvalidParams(`No rows to export: known are ${exportedTools(surface).join(', ')}`, {
      uri,
    });
  const tool = await entry.tool();
  await readIfPermitted(tenant, ['company'], call);
  const ask = (page: Record<string, unknown>): Promise<Answer> =>
    tool.run(tenant, parseArguments(entry.input, tool.input, { ...given, ...page }), call);
  const file = await readRows(entry, ask, { table, size, given }, tool);
  return withoutSecrets(csvContents(uri, file.rows, file.notes));
}

interface ExportAddress {
  name: string;
  /** Which of the answer's tables. */
  table: string | undefined;
  /** Rows at most. */
  size: number;
  given: Record<string, unknown>;
}

function readAddress(uri: string): ExportAddress {
  const [address = ''] = uri.slice(exportPrefix.length).split('#');
  const [path = '', search = ''] = address.split(/\?(.*)/s);
  const { table, size, ...given } = Object.fromEntries(new URLSearchParams(search));
  const rows = Number(size ?? maxRows);
  if (!Number.isInteger(rows) || rows < 1)
    throw new InvalidParams('size must be a whole number from 1', { uri });
  return { name: path.replace(/\.csv$/, ''), table, size: Math.min(rows, maxRows), given };
}

interface CsvRows {
  rows: readonly JsonObject[];
  /** What is not in the file, and why. */
  notes: readonly Wording[];
}

/** Arguments that name the first row of a page. */
const positions = ['from', 'deals_from'];

/** Page after page, as long as the table names a next one. */
async function readRows(
  { input: { properties = {} } }: SurfaceEntry,
  ask: (page: Record<string, unknown>) => Promise<Answer>,
  { table, size, given }: Pick<ExportAddress, 'table' | 'size' | 'given'>,
  tool: AnyTool,
): Promise<CsvRows> {
  const position = positions.find((name) => properties[name]) ?? '';
  const rows: JsonObject[] = [];
  let next = given[position];
  let answer: Answer;
  let found: Table;
  do {
    const page = sizesOf(properties, given, size - rows.length);
    answer = await ask(next === undefined ? page : { ...page, [position]: next });
    const data = await withMarkupConverted(() => cleanedRow(answer.data));
    found = tableOf(tool, answer, data, table);
    rows.push(...withCurrency(found.rows, data));
    next = position === '' ? undefined : found.next;
  } while (next !== undefined && rows.length < size);
  const { total } = found;
  const more = typeof next === 'number' ? { name: position, next } : undefined;
  return { rows: rows.slice(0, size), notes: notesOn(answer, rows.length, total, more) };
}

/** Rows of one answer where its list or its groups have no limit in the schema. */
const defaultRows = 1_000;

/** As many rows and groups as a tool gives at once; what the address asks for stays. */
function sizesOf(
  properties: Readonly<Record<string, JsonSchema>>,
  given: Record<string, unknown>,
  left: number,
): Record<string, number> {
  const limit = ({ maximum = defaultRows }: JsonSchema) => Math.min(maximum, left);
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, schema]) =>
      !['size', 'rows', 'groups'].includes(name) || name in given ? [] : [[name, limit(schema)]],
    ),
  );
}

function notesOn(
  answer: Answer,
  read: number,
  total: unknown,
  more: { name: string; next: number } | undefined,
): Wording[] {
  const covered = withCoverageFirst({ ...answer, summary: wording`` });
  const isCut = more !== undefined || (typeof total === 'number' && total > read);
  const cut = wording`${read} rows of ${Number(total ?? read)} are in the file.`;
  const rest = more
    ? [wording`The next ones: the same address with ${trusted(more.name)}=${more.next}.`]
    : [];
  return [
    ...(covered.trim() === '' ? [] : [covered]),
    ...(isCut ? [cut, ...rest] : []),
    ...(answer.notes ?? []),
  ];
}

interface Table {
  name: string;
  rows: JsonObject[];
  total?: unknown;
  /** Position of the first row after these. */
  next?: unknown;
}

/** Candidates among which a brief asks to choose are not the requested rows. */
function tableOf(
  tool: AnyTool,
  answer: Answer,
  data: JsonObject,
  wanted: string | undefined,
): Table {
  const isQuestion = 'records' in data && !('page' in data) && !('records' in tool.output.shape);
  if (isQuestion) throw new InvalidParams([answer.summary, ...(answer.notes ?? [])].join(' '));
  const tables = tablesIn(data);
  const chosen =
    wanted === undefined
      ? (tables.find(({ name }) => mainTables.includes(name)) ?? tables[0])
      : tables.find(({ name }) => name === wanted);
  if (chosen) return chosen;
  const names = tables.map(({ name }) => name).join(', ');
  throw new InvalidParams(
    names === '' ? 'The answer has no rows' : `There is no such table. Known: ${names}`,
  );
}

const mainTables = ['records', 'rows', 'groups', 'days', 'deals', 'quotes.changed'];

/** A currency that the answer has once for all rows becomes a column of the file. */
function withCurrency(rows: readonly JsonObject[], { currency }: JsonObject): JsonObject[] {
  return typeof currency === 'string' ? rows.map((row) => ({ currency, ...row })) : [...rows];
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
