// Counts the type assertions (`x as T`, `<T>x`, `x!`) of src and tools, which the compiler takes on trust, and
// fails when there are more than the limit per 1,000 lines. `as const` and `satisfies` assert nothing.
// With --list it prints where they are.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodesOf, sourceFiles } from './source-files.mjs';

const maxPerThousandLines = 3;

const assertions = new Set(['TSAsExpression', 'TSTypeAssertion', 'TSNonNullExpression']);
const isCast = ({ type, typeAnnotation }) =>
  assertions.has(type) && typeAnnotation?.typeName?.name !== 'const';
const root = resolve(fileURLToPath(new URL('..', import.meta.url)));
const list = process.argv.includes('--list');

let lines = 0;
let casts = 0;
for (const file of sourceFiles(root)) {
  const source = readFileSync(join(root, file), 'utf8');
  const found = nodesOf(file, source).filter(isCast);
  lines += source.split('\n').length - 1;
  casts += found.length;
  for (const { start, end } of list ? found : []) {
    console.log(
      `${file}:${source.slice(0, start).split('\n').length}: ${source.slice(start, end)}`,
    );
  }
}
const perThousandLines = (casts / lines) * 1000;
if (list || perThousandLines > maxPerThousandLines) {
  console.error(
    `${casts} type assertions in ${lines} lines: ${perThousandLines.toFixed(1)} per 1,000, at most ${maxPerThousandLines} are allowed.`,
  );
}
if (perThousandLines > maxPerThousandLines) process.exitCode = 1;
