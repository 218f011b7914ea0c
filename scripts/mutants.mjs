// Changes the source in small ways, one at a time, and reports the changes that no test notices: npm run mutants.
// A sample of a fixed seed, in a copy of the project, with the tests that are about the changed file. Not in CI.
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { mutantsOf } from './mutations.mjs';
import { sourceFiles } from './source-files.mjs';

const { values: options } = parseArgs({
  options: {
    files: { type: 'string', default: 'src/briefs/,src/tenant/changes/' },
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
  },
});

/** The tests of the files whose path matches, in the order in which they are run; the quick ones come first. */
const suites = [
  [/^src\/briefs\/checks/, ['test/briefs', 'test/oracle/checks.test.ts']],
  [
    /\/(?:pipeline|won-and-lost|forecast|period|group-labels|daily)/,
    ['test/briefs', 'test/oracle/pipeline.test.ts test/history'],
  ],
  [
    /\/(?:company|never|recent|contracts|applicable)/,
    ['test/briefs', 'test/oracle/company.test.ts'],
  ],
  [/\/(?:product-prices|discounts)/, ['test/briefs', 'test/oracle/prices.test.ts']],
  [
    /\/(?:columns|concise|references|identifiers|search|part-)/,
    ['test/briefs', 'test/oracle/lists.test.ts test/tools/lists.test.ts test/tools/find.test.ts'],
  ],
  [
    /^src\/briefs\//,
    [
      'test/briefs',
      'test/oracle/quotes.test.ts test/oracle/all-quotes.test.ts',
      'test/oracle/checks.test.ts test/oracle/pipeline.test.ts',
    ],
  ],
  [/^src\/tenant\/changes\//, ['test/consent']],
];
const unit =
  '--config vitest.unit.config.mjs --pool threads --no-isolate --no-file-parallelism'.split(' ');
/** A change that makes a loop endless counts as noticed. */
const timeoutMs = 300_000;

const root = resolve(fileURLToPath(new URL('..', import.meta.url)));
const prefixes = options.files.split(',');
const files = sourceFiles(root).filter((file) =>
  prefixes.some((prefix) => file.startsWith(prefix)),
);
const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
const chosen = sampleOf(all, Number(options.sample), Number(options.seed));
console.log(
  `${chosen.length} of ${all.length} mutants of ${files.length} files, seed ${options.seed}`,
);

const copy = copyOf(root);
const checked = new Set();
try {
  await tryAll();
} finally {
  rmSync(copy, { recursive: true, force: true });
}

async function tryAll() {
  const survivors = [];
  for (const [at, mutant] of chosen.entries()) {
    const noticedBy = await suiteNoticing(mutant);
    if (noticedBy === undefined) survivors.push(mutant);
    console.log(`${at + 1}  ${noticedBy ?? 'SURVIVED'}  ${nameOf(mutant)}`);
  }
  const noticed = chosen.length - survivors.length;
  console.log(
    `${noticed} of ${chosen.length} noticed (${Math.round((noticed / chosen.length) * 1000) / 10} %)`,
  );
}

function nameOf({ file, line, from, to }) {
  return `${file}:${line}: ${from} → ${to}`;
}

/** The tests that fail with the mutant; undefined where all pass. */
async function suiteNoticing({ file, source }) {
  const [, suite = []] = suites.find(([pattern]) => pattern.test(file)) ?? [];
  for (const tests of suite) {
    await requirePassing(tests);
    if (!(await passesWith(file, source, tests))) return tests;
  }
  return undefined;
}

async function passesWith(file, source, tests) {
  const path = join(copy, file);
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, source);
  try {
    return await passes(tests.split(' '));
  } finally {
    writeFileSync(path, before);
  }
}

/** Tests that fail without a mutant would notice every one. */
async function requirePassing(tests) {
  if (checked.has(tests)) return;
  if (!(await passes(tests.split(' ')))) throw new Error(`${tests}: fails without a mutant`);
  checked.add(tests);
}

/** The tests of pure functions need no bundle, and nothing of their own, so they run in one process without building it. */
async function passes(tests) {
  const config = tests.includes('test/briefs') ? unit : [];
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--bail=1',
    '--testTimeout=120000',
    ...config,
    ...tests,
  ];
  return promisify(execFile)(process.execPath, args, { cwd: copy, timeout: timeoutMs }).then(
    () => true,
    () => false,
  );
}

/** A copy of the tracked files, with the same packages. */
function copyOf(project) {
  const folder = mkdtempSync(join(tmpdir(), 'cpq-mcp-mutants-'));
  const tracked = execFileSync('git', ['ls-files'], { cwd: project, encoding: 'utf8' });
  for (const file of tracked.trim().split('\n')) cpSync(join(project, file), join(folder, file));
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  const unit = `import config from './vitest.config.ts';
delete config.test.globalSetup;
export default config;\n`;
  writeFileSync(join(folder, 'vitest.unit.config.mjs'), unit);
  return folder;
}

/** The same sample for the same seed, spread over all files. */
function sampleOf(mutants, size, seed) {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
  const keyed = mutants.map((mutant) => ({ mutant, key: next() }));
  return keyed
    .sort((a, b) => a.key - b.key)
    .slice(0, size)
    .map(({ mutant }) => mutant);
}
