/** The rows of an answer as a CSV file, for a person. The address contains the call, so any server process can answer it. */
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import type { ToolCall } from '../tenant/call.ts';
import { readCurrencies } from '../tenant/lists/known.ts';
import { type Wording, wording } from '../text/untrusted-text.ts';
import { withCoverageFirst } from '../tool-kit/answers.ts';
import type { Answer, AnyTool } from '../tool-kit/define-tool.ts';
import { exportPrefix } from '../tool-kit/resources.ts';
import { fieldOf, isObject, type JsonObject } from '../values.ts';
import { parseArguments } from './arguments.ts';
import { csvContents } from './csv.ts';
import { InvalidParams } from './invalid-params.ts';
import { plainData } from './results.ts';
import { exportedTools, isReading, type SurfaceEntry } from './surface.ts';
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
  call: ToolCall,
): Promise<ReadResourceResult> {
  const { name, table, size, given } = readAddress(uri);
  const entry = surface.find(name);
  if (!entry || !isReading(entry))
    throw new InvalidParams(`No rows to export: known are ${exportedTools(surface).join(', ')}`, {
      uri,
    });
  const tool = await entry.tool();
  await readCurrencies(tenant, call);
  const ask = (page: Record<string, unknown>): Promise<Answer> =>
    tool.run(tenant, parseArguments(entry.input, tool.input, { ...given, ...page }), call);
  const file = await readRows(entry, ask, { table, size, from: given.from }, tool);
  return tenant.client.withoutKey(csvContents(uri, file.rows, file.notes));
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

/** Page after page, as long as the answer names a next one. */
async function readRows(
  { input }: SurfaceEntry,
  ask: (page: Record<string, unknown>) => Promise<Answer>,
  { table, size, from }: { table: string | undefined; size: number; from: unknown },
  tool: AnyTool,
): Promise<CsvRows> {
  const largest = input.properties?.size?.maximum;
  const rows: JsonObject[] = [];
  let next: unknown = from;
  let answer: Answer;
  let found: Table;
  do {
    const page = largest === undefined ? {} : { size: Math.min(largest, size - rows.length) };
    answer = await ask(next === undefined ? page : { ...page, from: next });
    const data = await plainData(answer);
    found = tableOf(tool, answer, data, table);
    rows.push(...withCurrency(found.rows, data));
    next = fieldOf(answer.data.page, 'next');
  } while (next !== undefined && rows.length < size);
  const total = found.total ?? fieldOf(answer.data.page, 'total');
  return { rows: rows.slice(0, size), notes: notesOn(answer, rows.length, total, next) };
}

function notesOn(answer: Answer, read: number, total: unknown, next: unknown): Wording[] {
  const covered = withCoverageFirst({ ...answer, summary: wording`` });
  const isCut = next !== undefined || (typeof total === 'number' && total > read);
  const cut = wording`${read} rows of ${Number(total ?? read)} are in the file.`;
  const more =
    typeof next === 'number' ? [wording`The next ones: the same address with from=${next}.`] : [];
  return [
    ...(covered.trim() === '' ? [] : [covered]),
    ...(isCut ? [cut, ...more] : []),
    ...(answer.notes ?? []),
  ];
}

interface Table {
  name: string;
  rows: JsonObject[];
  total?: unknown;
}

/** Candidates among which a brief asks to choose are not the requested rows. */
function tableOf(
  tool: AnyTool,
  answer: Answer,
  data: JsonObject,
  wanted: string | undefined,
): Table {
  const isQuestion = 'records' in data && !('records' in tool.output.shape);
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

const mainTables = ['records', 'rows', 'groups'];

/** A currency that the answer has once for all rows becomes a column of the file. */
function withCurrency(rows: readonly JsonObject[], { currency }: JsonObject): JsonObject[] {
  return typeof currency === 'string' ? rows.map((row) => ({ currency, ...row })) : [...rows];
}

/** Every list of records in an answer, by its path; `rows` of a record go by the name of the record. */
function tablesIn(data: JsonObject, path = ''): Table[] {
  return Object.entries(data).flatMap(([field, value]): Table[] => {
    const name = path === '' || field !== 'rows' ? [path, field].filter(Boolean).join('.') : path;
    if (Array.isArray(value))
      return value.every(isObject) ? [{ name, rows: value, total: data.total }] : [];
    return isObject(value) ? tablesIn(value, name) : [];
  });
}
