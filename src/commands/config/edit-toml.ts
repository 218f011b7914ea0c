import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import { fieldOf, messageOf } from '../../values.ts';
import type { Entry } from './launch.ts';
import { checkEdit, type EditResult, merge, NotEdited } from './merge.ts';

interface TextRange {
  start: number;
  end: number;
}

/** An entry as TOML tables. */
export const print = (root: string, name: string, entry: Entry): string =>
  `${stringify({ [root]: { [name]: entry } }).trim()}\n`;

/**
 * Adds an entry to a TOML file. Only the entry's own tables are rewritten; everything else, comments
 * included, is preserved exactly.
 * @throws NotEdited
 */
export function edit(before: string, root: string, name: string, launch: Entry): EditResult {
  const document = parseDocument(before);
  const servers = document[root];
  const existing = isTable(servers) ? servers[name] : undefined;
  const entry = merge(existing, launch);
  if (isDeepStrictEqual(existing, entry)) return { text: before, entry };
  const eol = before.includes('\r\n') ? '\r\n' : '\n';
  const tables = print(root, name, entry).replaceAll('\n', eol);
  const after = replaceEntry(before, tables, entryRanges(before, root, name), eol);
  checkEdit(document, () => parseDocument(after), [root, name], entry);
  return { text: after, entry };
}

const isTable = (value: unknown): value is Entry => typeof value === 'object' && value !== null;

function parseDocument(text: string): Entry {
  try {
    // Bigints preserve large integers, which are compared but never written.
    return toPlainObject(parse(text, { integersAsBigInt: 'asNeeded' })) as Entry;
  } catch (error) {
    const [what, where] = [messageOf(error).split('\n')[0], fieldOf(error, 'line')];
    throw new NotEdited(`is not valid TOML (line ${where ?? '?'}: ${what})`);
  }
}

/** Converts tables to plain objects for comparison. */
function toPlainObject(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toPlainObject);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, toPlainObject(inner)]),
  );
}

/** Replaces the first range and removes the others. */
function replaceEntry(
  text: string,
  tables: string,
  ranges: readonly TextRange[],
  eol: string,
): string {
  const [first, ...others] = ranges;
  if (!first) {
    const gap = text.trim() === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
    return text + gap + tables;
  }
  const cut = others.reduceRight(
    (rest, { start, end }) => rest.slice(0, start) + rest.slice(end),
    text,
  );
  return cut.slice(0, first.start) + tables + cut.slice(first.end);
}

/** The tables of the entry, each from its header to its last line that is neither blank nor a comment. */
function entryRanges(text: string, root: string, name: string): TextRange[] {
  const own = new RegExp(
    `^[ \\t]*\\[[ \\t]*"?${root}"?[ \\t]*\\.[ \\t]*["']?${name}["']?[ \\t]*(\\.[^\\]]*)?\\]`,
  );
  const found: TextRange[] = [];
  let at = 0;
  let open: TextRange | undefined;
  for (const line of text.split(/(?<=\n)/)) {
    const isHeader = /^[ \t]*\[/.test(line);
    if (isHeader) open = own.test(line) ? { start: at, end: at } : undefined;
    if (open && isHeader) found.push(open);
    at += line.length;
    if (open && !/^[ \t]*(#.*)?\r?\n?$/.test(line)) open.end = at;
  }
  return found;
}
