import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  type JSONPath,
  type ModificationOptions,
  modify,
  type ParseError,
  parse,
  printParseErrorCode,
} from 'jsonc-parser';
import type { Entry } from './hosts.ts';
import { checkEdit, type Edited, merge, NotEdited } from './merge.ts';

const mark = '\uFEFF';

/**
 * Puts an entry into a file of JSON, with or without comments; everything else stays letter for letter.
 * @throws NotEdited
 */
export function editJson(
  before: string,
  root: string,
  name: string,
  wanted: Entry,
  inputs: readonly Entry[],
): Edited {
  const marked = before.startsWith(mark);
  const text = (marked ? before.slice(1) : before).trim() === '' ? '{}\n' : before.slice(+marked);
  const document = read(text);
  const servers = document[root];
  const entry = merge(objectOr(servers, root)[name], wanted);
  const style = styleOf(text);
  const after = addInputs(putEntry(text, [root, name], entry, style), inputs, style);
  checkEdit(document, read(after), [root, name], entry);
  return { text: (marked ? mark : '') + after, entry };
}

function read(text: string): Entry {
  const errors: ParseError[] = [];
  const document: unknown = parse(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.offset).split('\n').length;
    throw new NotEdited(`is not valid JSON (line ${line}: ${printParseErrorCode(error.error)})`);
  }
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw new NotEdited('does not hold a JSON object');
  }
  return document as Entry;
}

function objectOr(servers: unknown, root: string): Entry {
  if (servers === undefined) return {};
  if (typeof servers === 'object' && servers !== null && !Array.isArray(servers)) {
    return servers as Entry;
  }
  throw new NotEdited(`has something else than an object at "${root}"`);
}

/** Key by key, so that comments in an entry that is there already stay. */
function putEntry(text: string, path: string[], entry: Entry, style: ModificationOptions): string {
  const existing = path.reduce<unknown>((at, key) => (at as Entry | undefined)?.[key], read(text));
  if (typeof existing !== 'object' || existing === null || Array.isArray(existing)) {
    return change(text, path, entry, style);
  }
  const names = new Set([...Object.keys(existing), ...Object.keys(entry)]);
  return [...names].reduce((changed, key) => {
    const same = isDeepStrictEqual((existing as Entry)[key], entry[key]);
    return same ? changed : change(changed, [...path, key], entry[key], style);
  }, text);
}

function addInputs(text: string, inputs: readonly Entry[], style: ModificationOptions): string {
  return inputs.reduce((changed, input) => {
    const present = read(changed).inputs;
    if (present === undefined) return change(changed, ['inputs'], [input], style);
    if (!Array.isArray(present)) throw new NotEdited('has something else than a list at "inputs"');
    if (present.some((one: Entry) => one?.id === input.id)) return changed;
    const insert = { ...style, isArrayInsertion: true };
    return change(changed, ['inputs', present.length], input, insert);
  }, text);
}

const change = (text: string, path: JSONPath, value: unknown, style: ModificationOptions): string =>
  applyEdits(text, modify(text, path, value, style));

/** New lines look like those that are there. */
function styleOf(text: string): ModificationOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  return {
    formattingOptions: {
      insertSpaces: !indent.startsWith('\t'),
      tabSize: indent.startsWith('\t') ? 1 : indent.length,
      eol: text.includes('\r\n') ? '\r\n' : '\n',
    },
  };
}
