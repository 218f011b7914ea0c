import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseSync } from 'vite';

/** The source files of src and tools, relative to the root of the project. */
export const sourceFiles = (root) =>
  ['src', 'tools'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => join(folder, name).split(sep).join('/'))
      .filter((name) => /\.[cm]?[jt]sx?$/.test(name)),
  );

/** The nodes of a file's syntax tree. @throws Error that names the file, if it cannot be parsed */
export function nodesOf(file, source) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: cannot be parsed: ${errors[0].message}`);
  return [...nodesBelow(program)];
}

function* nodesBelow(node) {
  if (typeof node !== 'object' || node === null) return;
  yield node;
  for (const inner of Object.values(node)) yield* nodesBelow(inner);
}
