// Changes the source in small ways, one at a time, and reports the changes that no test notices: npm run mutants.
// A sample of a fixed seed, in a copy of the project, with the tests that are about the changed file. Not in CI.
// Changes that do not compile are not counted. Each result is printed at once, so an interrupted run is not lost.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { mutantsOf } from './mutations.mjs';
import { sourceFiles } from './source-files.mjs';

const { values: options } = parseArgs({
  options: {
    files: {
      type: 'string',
      default: 'src/briefs/,src/figures/,src/names/,src/history/,src/changes/',
    },
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
  },
});

/** The folder of the tests that call functions of a file. They need no bundle; of some modules there are none. */
const unitFolder = (file) =>
  file.startsWith('src/briefs/')
    ? 'test/briefs'
    : /^src\/(?:figures|names|history|changes)\//.test(file)
      ? 'test/changes'
      : undefined;

/** The tests over the bundle, by the path of the changed file. */
const suites = [
  [/^src\/briefs\/(?:checks|contracts)/, 'test/oracle/checks'],
  [
    /\/(?:pipeline|won-and-lost|forecast|period|group-labels|daily)/,
    'test/oracle/pipeline test/history/course test/history/changes test/history/tool',
  ],
  [/\/quote-changes/, 'test/history/changes'],
  [/\/(?:company|never|recent)/, 'test/oracle/company'],
  [/\/(?:product-prices|discounts|applicable)/, 'test/oracle/prices'],
  [/\/(?:columns|concise|references|identifiers)/, 'test/oracle/lists test/tools/lists'],
  [/\/(?:search|part-numbers)/, 'test/tools/find test/tenant/resolving'],
  [/\/name-filters/, 'test/oracle/pipeline test/oracle/all-quotes'],
  [
    /^src\/briefs\//,
    'test/oracle/quotes test/oracle/all-quotes test/oracle/checks test/oracle/pipeline',
  ],
  [/\/(?:execute|verification)/, 'test/consent/faults test/consent/steps test/consent/crash'],
  [/\/(?:resolve|target|plan|fields)/, 'test/consent/resolving test/consent/look-alikes'],
  [/\/(?:decide|rules|shown)/, 'test/consent/steps test/consent/question'],
  [
    /^(?:tools|src\/tool-kit|src\/lists)\//,
    'test/tools test/consent/read-after-write test/oracle/lists',
  ],
  [/^src\/mcp\//, 'test/tools test/consent/false-answers test/consent/view test/hosts/lifecycle'],
  [/^src\/tenant\//, 'test/tenant test/reading test/access/revoked test/access/names'],
  [/^src\/reading\//, 'test/reading test/api'],
  [/^src\/service\//, 'test/api'],
  [/^src\/state\//, 'test/state'],
  [/^src\/events\//, 'test/events'],
  [/^src\/hosts\//, 'test/hosts test/access test/operating'],
];
/** A change that makes a loop endless counts as noticed. A busy machine needs a tenth of it. */
const timeoutMs = 600_000;

const root = resolve(fileURLToPath(new URL('..', import.meta.url)));
const prefixes = options.files.split(',');
const files = sourceFiles(root).filter((file) =>
  prefixes.some((prefix) => file.startsWith(prefix)),
);
const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
const copy = copyOf(root);
try {
  const chosen = compiling(sampleOf(all, Number(options.sample), Number(options.seed)));
  console.log(
    `${chosen.length} that compile, of ${options.sample} of ${all.length} mutants of ${files.length} files, seed ${options.seed}`,
  );
  await tryAll(chosen);
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** The tests over the bundle take a minute, so they come after all others. */
async function tryAll(chosen) {
  const hasUnitTests = ({ file }) => unitFolder(file) !== undefined;
  const left = await notNoticed(chosen.filter(hasUnitTests), unitTests);
  const others = chosen.filter((mutant) => !hasUnitTests(mutant));
  const survivors = await notNoticed([...left, ...others], suiteTests);
  for (const mutant of survivors) console.log(`${nameOf(mutant)}  SURVIVED`);
  const noticed = chosen.length - survivors.length;
  const percent = Math.round((noticed / chosen.length) * 1000) / 10;
  console.log(`${noticed} of ${chosen.length} noticed (${percent} %)`);
}

async function notNoticed(mutants, testsOf) {
  const kept = [];
  const passing = new Set();
  for (const [at, mutant] of mutants.entries()) {
    const tests = testsOf(mutant);
    if (!passing.has(tests.name)) await requirePassing(tests);
    passing.add(tests.name);
    const failure = await failureWith(mutant, tests);
    if (failure === undefined) kept.push(mutant);
    const result = failure === undefined ? `not noticed by ${tests.name}` : `noticed: ${failure}`;
    console.log(`${at + 1}/${mutants.length}  ${nameOf(mutant)}  ${result}`);
  }
  return kept;
}

/** Tests that fail without a mutant would notice every one. */
async function requirePassing(tests) {
  const failure = await failureOf(tests);
  if (failure !== undefined) throw new Error(`Without a mutant: ${failure}`);
}

function nameOf({ file, line, column, from, to }) {
  return `${file}:${line}:${column}: ${from} → ${to}`;
}

function unitTests({ file }) {
  const folder = unitFolder(file);
  const args = `related ${file} --run --passWithNoTests --dir ${folder} --config vitest.unit.config.mjs`;
  const oneProcess = '--pool threads --no-isolate --no-file-parallelism';
  return { name: folder, args: `${args} ${oneProcess}`.split(' '), isUnit: true };
}

function suiteTests({ file }) {
  const [, tests] = suites.find(([pattern]) => pattern.test(file)) ?? [];
  if (tests === undefined) throw new Error(`${file}: say in scripts/mutants.mjs what tests it`);
  return { name: tests, args: ['run', ...tests.split(' ')] };
}

async function failureWith({ file, source }, tests) {
  const path = join(copy, file);
  const before = readFileSync(path, 'utf8');
  writeFileSync(path, source);
  try {
    const failure = await failureOf(tests);
    return failure && !tests.isUnit ? await confirmed(failure) : failure;
  } finally {
    writeFileSync(path, before);
  }
}

/** The failure, if its file fails again by itself: sockets and processes can fail on a busy machine. */
async function confirmed(failure) {
  const [file = ''] = /\S+\.test\.ts/.exec(failure) ?? [];
  return failureOf({ args: ['run', file] });
}

/** The first test that fails; undefined where all pass. No retries: a second try finds what the first has written. */
async function failureOf({ args }) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const given = [vitest, ...args, '--bail=1', '--retry=0', '--testTimeout=120000'];
  const env = { ...process.env, NO_COLOR: '1' };
  return promisify(execFile)(process.execPath, given, { cwd: copy, timeout: timeoutMs, env }).then(
    () => undefined,
    ({ stdout, stderr, killed }) =>
      killed ? 'timeout' : (/FAIL +(.*)/.exec(stdout + stderr)?.[1] ?? stderr.slice(0, 500)),
  );
}

/** One run of the compiler over all mutants, each a file beside the one that it changes. */
function compiling(mutants) {
  const pathOf = ({ file }, at) => file.replace(/\.ts$/, `.mutant-${at}.ts`);
  for (const [at, mutant] of mutants.entries())
    writeFileSync(join(copy, pathOf(mutant, at)), mutant.source);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '--noEmit'], {
    cwd: copy,
    encoding: 'utf8',
  });
  for (const [at, mutant] of mutants.entries()) rmSync(join(copy, pathOf(mutant, at)));
  return mutants.filter((mutant, at) => !stdout.includes(`${pathOf(mutant, at)}(`));
}

/** A copy of the tracked files, with the same packages. */
function copyOf(project) {
  const folder = mkdtempSync(join(tmpdir(), 'cpq-mcp-mutants-'));
  const tracked = execFileSync('git', ['ls-files'], { cwd: project, encoding: 'utf8' });
  for (const file of tracked.trim().split('\n')) cpSync(join(project, file), join(folder, file));
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  const unitConfig = `import { BaseSequencer } from 'vitest/node';
import { common as config } from './vitest.config.ts';
const isSlow = ({ moduleId }) => /properties|budget|decimal/.test(moduleId);
class QuickFirst extends BaseSequencer {
  sort = async (files) => files.toSorted((a, b) => isSlow(a) - isSlow(b));
}
config.test.include = ['**/*.test.ts'];
config.test.sequence = { sequencer: QuickFirst };
export default config;\n`;
  writeFileSync(join(folder, 'vitest.unit.config.mjs'), unitConfig);
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
