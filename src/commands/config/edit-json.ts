import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { fieldOf, isObject } from '../../values.ts';
import type { Entry } from './launch.ts';
import { checkEdit, type EditResult, merge, NotEdited } from './merge.ts';

/** Formatting of the file. */
interface Style {
  indent: string;
  eol: string;
}

const byteOrderMark = '\uFEFF';

/** An entry as JSON, with the inputs that it refers to. */
export function print(root: string, name: string, entry: Entry, inputs: readonly Entry[]): string {
  const all = { ...(inputs.length > 0 && { inputs }), [root]: { [name]: entry } };
  return `${JSON.stringify(all, undefined, 2)}\n`;
}

/**
 * Adds an entry to a JSON file, with or without comments; everything else is preserved exactly.
 * @throws NotEdited
 */
export function edit(
  before: string,
  root: string,
  name: string,
  launch: Entry,
  inputs: readonly Entry[],
): EditResult {
  const marked = before.startsWith(byteOrderMark);
  const content = marked ? before.slice(1) : before;
  const text = content.trim() === '' ? '{}\n' : content;
  const document = parseDocument(text);
  const entry = merge(objectOr(document[root], root)[name], launch);
  const style = styleOf(text);
  const after = addInputs(putEntry(text, [root, name], entry, style), inputs, style);
  checkEdit(document, () => parseDocument(after), [root, name], entry);
  return { text: (marked ? byteOrderMark : '') + after, entry };
}

const parseOptions = { allowTrailingComma: true };

function parseDocument(text: string): Entry {
  const errors: ParseError[] = [];
  const document: unknown = parse(text, errors, parseOptions);
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split('\n').length;
    throw new NotEdited(`is not valid JSON (line ${line}: ${printParseErrorCode(error.error)})`);
  }
  if (!isObject(document)) {
    throw new NotEdited('does not contain a JSON object');
  }
  return document;
}

function objectOr(servers: unknown, root: string): Entry {
  if (servers === undefined) return {};
  if (isObject(servers)) return servers;
  throw new NotEdited(`has a value that is not an object at "${root}"`);
}

/** Sets key by key, to preserve comments in an existing entry. */
function putEntry(text: string, path: string[], entry: Entry, style: Style): string {
  const existing = path.reduce<unknown>(fieldOf, parseDocument(text));
  if (!isObject(existing)) {
    return replaceValue(text, path, entry, style);
  }
  const names = new Set([...Object.keys(existing), ...Object.keys(entry)]);
  return [...names].reduce((changed, key) => {
    if (isDeepStrictEqual(existing[key], entry[key])) return changed;
    if (entry[key] !== undefined) return replaceValue(changed, [...path, key], entry[key], style);
    return applyEdits(changed, modify(changed, [...path, key], undefined, {}));
  }, text);
}

function addInputs(text: string, inputs: readonly Entry[], style: Style): string {
  return inputs.reduce((changed, input) => {
    const present = parseDocument(changed).inputs;
    if (present === undefined) return replaceValue(changed, ['inputs'], [input], style);
    if (!Array.isArray(present)) throw new NotEdited('has a value that is not a list at "inputs"');
    if (present.some((one: Entry) => one?.id === input.id)) return changed;
    return replaceValue(changed, ['inputs', present.length], input, style);
  }, text);
}

/**
 * Sets one value: replaces it, or adds it on a new line after its siblings. (The library would also reformat
 * the siblings.)
 */
function replaceValue(text: string, path: JSONPath, value: unknown, style: Style): string {
  const tree = parseTree(text, [], parseOptions);
  const present = tree && findNodeAtLocation(tree, path);
  const lines = linesOf(value, path.length, style);
  if (present) {
    return text.slice(0, present.offset) + lines + text.slice(present.offset + present.length);
  }
  const above = path.slice(0, -1);
  const name = path.at(-1);
  const parent = tree && findNodeAtLocation(tree, above);
  if (!parent) return replaceValue(text, above, { [String(name)]: value }, style);
  const written = typeof name === 'number' ? lines : `${JSON.stringify(name)}: ${lines}`;
  const line = style.eol + style.indent.repeat(path.length) + written;
  const last = parent.children?.at(-1);
  return last
    ? insertAfter(text, last.offset + last.length, line)
    : insertOnly(text, parent.offset + 1, line, style.eol + style.indent.repeat(path.length - 1));
}

function linesOf(value: unknown, depth: number, { indent, eol }: Style): string {
  return JSON.stringify(value, undefined, indent).replaceAll('\n', eol + indent.repeat(depth));
}

/** Keeps a trailing comment on the sibling's line, and an existing comma. */
function insertAfter(text: string, end: number, line: string): string {
  const rest = /^[ \t]*(?:(,)[ \t]*)?(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*)?(?=\r?\n)/.exec(
    text.slice(end),
  );
  const [onLine = '', comma = ''] = rest ?? [];
  const at = end + onLine.length;
  return `${text.slice(0, end)}${comma === '' ? ',' : ''}${onLine}${line}${comma}${text.slice(at)}`;
}

function insertOnly(text: string, start: number, line: string, closing: string): string {
  const isBare = /^[ \t]*[}\]]/.test(text.slice(start));
  const rest = isBare ? closing + text.slice(start).trimStart() : text.slice(start);
  return text.slice(0, start) + line + rest;
}

/** Detects indentation and line endings. */
const styleOf = (text: string): Style => ({
  indent: /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ',
  eol: text.includes('\r\n') ? '\r\n' : '\n',
});
