import { isDeepStrictEqual } from 'node:util';
import { parseDocument, stringify } from 'yaml';
import { isObject } from '../../values.ts';
import type { Entry } from './launch.ts';
import { checkEdit, type EditResult, merge, NotEdited } from './merge.ts';

/** An entry as YAML. */
export const print = (root: string, name: string, entry: Entry): string =>
  stringify({ [root]: { [name]: entry } }, noFolding);

/** Lines are not folded at 80 characters, because paths are longer. */
const noFolding = { lineWidth: 0 };

/**
 * Adds an entry to a YAML file. Everything else keeps its meaning and its comments; the layout may change.
 * @throws NotEdited
 */
export function edit(before: string, root: string, name: string, launch: Entry): EditResult {
  const document = parsed(before);
  const content = contentOf(document);
  const servers = content[root] ?? {};
  if (!isObject(servers)) {
    throw new NotEdited(`has a value that is not an object at "${root}"`);
  }
  const entry = merge(servers[name], launch);
  if (isDeepStrictEqual(servers[name], entry)) return { text: before, entry };
  if (content[root] === undefined || content[root] === null) document.set(root, { [name]: entry });
  else document.setIn([root, name], entry);
  const text = document.toString(noFolding);
  checkEdit(content, () => contentOf(parsed(text)), [root, name], entry);
  return { text, entry };
}

function parsed(text: string) {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (!error) return document;
  const line = error.linePos?.[0].line ?? '?';
  throw new NotEdited(`is not valid YAML (line ${line}: ${error.code})`);
}

/** An empty file has no content. */
function contentOf(document: ReturnType<typeof parsed>): Entry {
  const content: unknown = document.toJS() ?? {};
  if (isObject(content)) return content;
  throw new NotEdited('does not contain a YAML mapping');
}
