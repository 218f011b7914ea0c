// Checks that every regular expression of src and tools takes linear time: one that takes quadratic time lets a
// long text block the server for everybody. Patterns composed at run time cannot be checked; they are listed
// here with the reason why they are safe.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodesOf, sourceFiles } from './source-files.mjs';

// Read when the library is loaded: its native backends are not needed.
process.env.RECHECK_BACKEND = 'pure';
const { checkSync } = await import('recheck');

const timeoutMs = 300_000;
/** Far above the defaults (0.25 s and 1 s), which a linear pattern exceeds on a busy machine; steps are limited too. */
const matchingLimits = { incubationTimeout: 10_000, attackTimeout: 20_000 };

/** Files that compose a pattern, and why it is linear nevertheless. */
const composed = {
  'src/text/secrets.ts':
    'has no repetition but of invisible characters, which the spellings of each character exclude',
  'src/text/invisible-characters.ts':
    'is of single characters between single ones, without repetition',
  'src/text/speaking-text.ts': 'every repetition in it is bounded',
  'src/config.ts': 'is made of fixed words without repetition',
  'src/hosts/access/api-key.ts':
    'anchored, of literal text and single classes, which a dot separates',
};

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
const verdicts = new Map();
const problems = sourceFiles(root).flatMap(problemsOf);
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`${problems.length} regular expressions may take more than linear time.`);
  process.exitCode = 1;
}

function problemsOf(file) {
  try {
    const nodes = nodesOf(file, readFileSync(join(root, file), 'utf8'));
    const slow = nodes.map(({ regex }) => regex && problemOf(file, regex));
    const unknown = nodes.some(makesPattern) && !Object.hasOwn(composed, file);
    return [...slow, unknown && `${file}: composes a pattern that cannot be checked`].filter(
      Boolean,
    );
  } catch (error) {
    return [error.message];
  }
}

function makesPattern({ type, callee }) {
  return (type === 'NewExpression' || type === 'CallExpression') && callee.name === 'RegExp';
}

function problemOf(file, { pattern, flags }) {
  const { status, complexity, error } = verdictOn(pattern, flags);
  if (status === 'safe') return undefined;
  const why = complexity?.summary ?? error?.kind ?? status;
  return `${file}: /${pattern}/${flags}: ${why}`;
}

function verdictOn(pattern, flags) {
  const key = `/${pattern}/${flags}`;
  const known = verdicts.get(key);
  if (known) return known;
  const verdict = checkSync(pattern, flags, { timeout: timeoutMs, ...matchingLimits });
  verdicts.set(key, verdict);
  return verdict;
}
