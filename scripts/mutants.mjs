// Changes the source in small ways, one at a time, and reports the changes that no test notices: npm run mutants.
// A sample of a fixed seed, compiled into a copy of the project and switched on one after the other: first with the approved
// answers, in one process, then with the test files that reach it. Not in CI. Results are printed at once.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf, mutated, switched } from './mutations.mjs';
import { sourceFiles } from './source-files.mjs';

const { values: options } = parseArgs({
  options: {
    files: { type: 'string', default: 'src/,tools/' },
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    /** Only those at this place, as the results name it: `src/values.ts:12:7`. */
    at: { type: 'string', default: '' },
    /** Only with the approved answers. */
    answers: { type: 'boolean', default: false },
    /** Prefixes of test files: how many mutants does each of their tests notice that the approved answers do not? */
    tests: { type: 'string' },
    /** Only lists the mutants that no test reaches. */
    unreached: { type: 'boolean', default: false },
  },
});

/** No test file takes as long, nor the approved answers for one mutant. */
const timeoutMs = 600_000;
const root = resolve(fileURLToPath(new URL('..', import.meta.url)));
const sources = new Map(
  sourceFiles(root)
    .filter((file) => options.files.split(',').some((prefix) => file.startsWith(prefix)))
    .filter((file) => !/^src\/(?:views|sandbox)\//.test(file))
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);
const all = [...sources]
  .flatMap(([file, source]) => mutantsOf(file, source))
  .filter((mutant) => nameOf(mutant).startsWith(options.at));
const mutants = sampleOf(all, Number(options.sample), Number(options.seed)).map((it, at) => ({
  ...it,
  id: at + 1,
}));
const copy = copyOf(root);
const clock = join(copy, 'test/support/clock.cjs');
const preloads = [clock, join(copy, 'test/support/mutants/switch.cjs')];
try {
  say(`${mutants.length} of ${all.length} mutants of ${sources.size} files, seed ${options.seed}`);
  const left = options.unreached ? await notReached() : await notNoticedByAnswers();
  if (options.tests !== undefined) await sayNoticedByEachTest(left, options.tests.split(','));
  const withoutSuites = options.unreached || options.answers || options.tests !== undefined;
  const survivors = withoutSuites ? left : compiling(await notNoticedBySuites(left));
  const [fate, others] = options.unreached ? ['NOT REACHED', 'reached'] : ['SURVIVED', 'noticed'];
  for (const mutant of survivors) say(`${nameOf(mutant)}  ${fate}`);
  const noticed = mutants.length - survivors.length;
  const percent = Math.round((noticed / mutants.length) * 1000) / 10;
  say(`${noticed} of ${mutants.length} ${others} (${percent} %)`);
} finally {
  rmSync(copy, { recursive: true, force: true });
}

async function notReached() {
  const reached = new Set((await reachedByFile([])).flatMap(({ ids }) => [...ids]));
  return mutants.filter(({ id, isOfModule }) => !isOfModule && !reached.has(id));
}

/** A mutant that hangs ends the process, counts as noticed, and the next run continues behind it. */
async function notNoticedByAnswers() {
  const results = new Map(
    mutants.filter(({ isOfModule }) => isOfModule).map(({ id }) => [id, 'of a module']),
  );
  const file = join(copy, 'results.jsonl');
  for (;;) {
    const open = mutants.map(({ id }) => id).filter((id) => !results.has(id));
    if (open.length === 0) break;
    writeFileSync(file, '');
    const env = { MUTANTS: JSON.stringify(open.slice(0, 50)), RESULTS: file, TEST_MUTANT: '0' };
    const failure = await failureOf(['test/answers/mutants.test.ts'], env);
    const lines = readFileSync(file, 'utf8').trim().split('\n').filter(Boolean);
    if (lines.length === 0) throw new Error(`The approved answers: ${failure}`);
    for (const line of lines) {
      const { id, result } = JSON.parse(line);
      results.set(id, result === 'tried' ? 'noticed' : result);
    }
  }
  const left = mutants.filter(({ id }) => results.get(id) !== 'noticed');
  for (const mutant of left) say(`${nameOf(mutant)}  answers: ${results.get(mutant.id)}`);
  say(`${mutants.length - left.length} of ${mutants.length} noticed by approved answers`);
  return left;
}

/** Two at a time, because a run mostly starts up. */
async function forEachOf(left, use) {
  const queue = [...left];
  const work = async () => {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) await use(mutant);
  };
  await Promise.all([work(), work()]);
}

async function notNoticedBySuites(left) {
  const reached = await reachedByFile([]);
  const survivors = [];
  await forEachOf(left, async (mutant) => {
    const failure = await failureWith(mutant, reached);
    if (failure === undefined) survivors.push(mutant);
    say(`${nameOf(mutant)}  ${failure === undefined ? 'not noticed' : `noticed: ${failure}`}`);
  });
  return survivors;
}

/** A test that notices none of these may repeat what the answers say: a person judges that, beside the answers. */
async function sayNoticedByEachTest(left, prefixes) {
  const reached = await reachedByFile(prefixes);
  const counts = new Map();
  await forEachOf(left, async (mutant) => {
    const { id, isOfModule } = mutant;
    const files = reached.filter(({ ids }) => isOfModule || ids.has(id)).map(({ file }) => file);
    if (files.length === 0) return;
    const report = join(copy, `report-${id}.json`);
    const given = [...files, '--reporter=json', `--outputFile=${report}`];
    const failure = await failureOf(given, { TEST_MUTANT: String(id) });
    if (failure === 'timeout') return say(`${nameOf(mutant)}  timeout`);
    for (const { name, assertionResults } of JSON.parse(readFileSync(report, 'utf8')).testResults)
      for (const { fullName, status } of assertionResults) {
        const test = `${relative(copy, name)} > ${fullName}`;
        const { noticed, of } = counts.get(test) ?? { noticed: 0, of: 0 };
        counts.set(test, { noticed: noticed + Number(status === 'failed'), of: of + 1 });
      }
  });
  for (const [test, { noticed, of }] of [...counts].sort())
    say(`${String(noticed).padStart(4)} of ${String(of).padStart(4)}  ${test}`);
}

/** The ids of the mutants that each test file reaches, those of the fewest first, since they are about them. */
async function reachedByFile(files) {
  const folder = join(copy, 'reached');
  mkdirSync(folder);
  const setup = join(copy, 'test/support/setup.ts');
  const usual = readFileSync(setup, 'utf8');
  const recording = "import { recordReached } from './mutants/reach.ts';\n";
  writeFileSync(setup, `${recording}${usual}recordReached();\n`);
  // Here nothing can hang, and the whole suite takes longer on a busy machine.
  const failure = await failureOf(files, { TEST_MUTANT: folder }, 6 * timeoutMs);
  // With all of them compiled in, some tests of sizes fail.
  if (failure !== undefined && !options.unreached) throw new Error(`Without a mutant: ${failure}`);
  writeFileSync(setup, usual);
  const folders = readdirSync(folder, { withFileTypes: true }).filter((it) => it.isDirectory());
  const reached = folders.map(({ name }) => ({
    file: name.replaceAll('+', '/'),
    ids: new Set(listsIn(join(folder, name)).flat()),
  }));
  return reached.sort((a, b) => a.ids.size - b.ids.size);
}

function listsIn(folder) {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
}

/** Most are noticed by the few files that are about them. A module is loaded once by a process, for whichever file comes first. */
async function failureWith({ id, isOfModule }, reached) {
  const env = { TEST_MUTANT: String(id) };
  if (isOfModule)
    return (await firstFailureOf(['test/answers/answers'], env)) ?? firstFailureOf([], env);
  const files = reached.filter(({ ids }) => ids.has(id)).map(({ file }) => file);
  const about = files.splice(0, 8);
  const failure = about.length > 0 ? await firstFailureOf(about, env) : undefined;
  return failure === undefined && files.length > 0 ? firstFailureOf(files, env) : failure;
}

function firstFailureOf(files, env) {
  return failureOf([...files, '--bail=1'], env);
}

/** The first test that fails; undefined where all pass. No retries: a second try finds what the first has written. */
function failureOf(args, env, timeout = timeoutMs) {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const given = [vitest, 'run', '--retry=0', ...args];
  const ahead = String(Date.parse('2026-11-20T12:00:00Z') - Date.now());
  const own = {
    NO_COLOR: '1',
    NODE_OPTIONS: preloads.map((path) => `--require ${JSON.stringify(path)}`).join(' '),
    TEST_CLOCK_AHEAD_MS: ahead,
    ...env,
  };
  const settings = {
    cwd: copy,
    timeout,
    maxBuffer: 1e9,
    env: { ...process.env, ...own },
  };
  return new Promise((done) =>
    execFile(process.execPath, given, settings, (error, stdout, stderr) => {
      if (!error) return done(undefined);
      done(
        error.killed
          ? 'timeout'
          : (/FAIL +(.*)/.exec(stdout + stderr)?.[1] ?? (stdout + stderr).slice(-500)),
      );
    }),
  );
}

/** One run of the compiler over these mutants, each a file beside the one that it changes: CI would notice the others. */
function compiling(survivors) {
  const pathOf = ({ file, id }) => file.replace(/\.ts$/, `.mutant-${id}.ts`);
  for (const [file, source] of sources) writeFileSync(join(copy, file), source);
  for (const mutant of survivors)
    writeFileSync(join(copy, pathOf(mutant)), mutated(sources.get(mutant.file), mutant));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '--noEmit'], {
    cwd: copy,
    encoding: 'utf8',
  });
  return survivors.filter((mutant) => !stdout.includes(`${pathOf(mutant)}(`));
}

/** A copy of the tracked files with all mutants in it, and with the same packages. */
function copyOf(project) {
  const folder = mkdtempSync(join(tmpdir(), 'cpq-mcp-mutants-'));
  const tracked = execFileSync('git', ['ls-files'], { cwd: project, encoding: 'utf8' });
  for (const file of tracked.trim().split('\n')) cpSync(join(project, file), join(folder, file));
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  for (const [file, source] of sources) {
    const own = mutants.filter((mutant) => mutant.file === file);
    writeFileSync(join(folder, file), switched(source, own));
  }
  // Of the code itself, and of files made from it, which are others here.
  for (const own of ['test/architecture', 'test/commands/install.test.ts'])
    rmSync(join(folder, own), { recursive: true });
  const answers = join(folder, 'test/answers/mutants.test.ts');
  writeFileSync(answers, "import '../support/mutants/with-answers.ts';\n");
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

function nameOf({ file, line, column, from, to }) {
  return `${file}:${line}:${column}: ${from} → ${to}`.replaceAll(/\s+/g, ' ').slice(0, 200);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
