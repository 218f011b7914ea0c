// npm run eval: plays the questions with a model and prints what was right and what it cost. See docs/evals.md.
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Sandbox, startSandbox } from '../src/sandbox/index.ts';
import { clockAt } from '../test/support/oracle/clock.ts';
import { modelFrom, type Played, play } from './model.ts';
import { commandOf, settings, startServer } from './played-server.ts';
import { questions } from './questions/index.ts';
import { type Result, report } from './report.ts';
import { faults } from './score.ts';
import { type AskedQuestion, askedQuestion, day, tenantOptions, unmet } from './truth.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    out: { type: 'string' },
    transcript: { type: 'string' },
    data: { type: 'string' },
    list: { type: 'boolean' },
    serve: { type: 'boolean' },
    server: { type: 'string', default: 'dist/cpq-mcp.js' },
    help: { type: 'boolean' },
  },
});

const usage = `Use: npm run eval -- [flags], with EVAL_MODEL, and EVAL_API_KEY or EVAL_BASE_URL
  --only ID,…        these questions only
  --list             print the questions
  --out FILE         write the answers as a transcript, one JSON object a line
  --transcript FILE  score answers from elsewhere: {"id", "answer"}, and calls, tokens, milliseconds if known
  --server FILE      another build of the server
  --serve            keep the tenant open and print the entry for an assistant's configuration
  --data FILE        with --serve, the SQLite file of the tenant; with --transcript, where changes are looked for`;

if (options.help) print(usage);
else if (options.serve) await serve();
else await withSandbox(tenantOptions, ask);

async function withSandbox(
  sandboxOptions: Parameters<typeof startSandbox>[0],
  work: (sandbox: Sandbox) => Promise<void>,
): Promise<void> {
  const sandbox = await startSandbox(sandboxOptions);
  try {
    await work(sandbox);
  } finally {
    await sandbox.close();
  }
}

async function ask(pristine: Sandbox): Promise<void> {
  const asked = chosen().map((question) => askedQuestion(question, pristine.database));
  if (options.list) print(asked.map(({ id, ask }) => JSON.stringify({ id, ask })).join('\n'));
  else if (options.transcript) await scoreTranscript(asked, options.transcript);
  else await playAll(asked, pristine);
}

function chosen() {
  const ids = options.only?.split(',');
  return questions.filter(({ id }) => ids?.includes(id) ?? true);
}

async function playAll(asked: readonly AskedQuestion[], sandbox: Sandbox): Promise<void> {
  const model = modelFrom(process.env);
  if (options.out) await writeFile(options.out, '');
  const server = await startServer(sandbox, options.server);
  const results: Result[] = [];
  try {
    for (const question of asked) {
      server.person = question.person ?? 'decline';
      const played = await play(model, server.client, question);
      if (options.out) await appendFile(options.out, `${JSON.stringify(played)}\n`);
      results.push(scored(question, played, sandbox));
    }
  } finally {
    await server.close();
  }
  print(report(results, []));
}

/** Scores a transcript that another program wrote. Changes are checked in the tenant's file, if it is given. */
async function scoreTranscript(asked: readonly AskedQuestion[], file: string): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  const answers = new Map(lines.map(readPlayed).map((played) => [played.id, played]));
  const changed = options.data
    ? await startSandbox({ ...tenantOptions, file: options.data })
    : undefined;
  const answered = asked.filter(({ id }) => answers.has(id));
  const results = answered.flatMap((question) => {
    const played = answers.get(question.id);
    return played ? [scored(question, played, changed)] : [];
  });
  await changed?.close();
  const missing = asked.filter(({ id }) => !answers.has(id)).map(({ id }) => id);
  print(report(results, missing));
}

function scored(question: AskedQuestion, played: Played, tenant: Sandbox | undefined): Result {
  const left = tenant === undefined ? [] : unmet(question, tenant.database);
  return {
    ...played,
    faults: [...faults(question, played.answer), ...left.map((column) => `not so: ${column}`)],
  };
}

function readPlayed(line: string): Played {
  const played = JSON.parse(line) as Played;
  if (typeof played.id !== 'string')
    throw new Error(`A line of the transcript has no id: ${line.slice(0, 80)}`);
  return played;
}

/** Keeps the tenant open for another assistant, and prints the entry for its configuration. */
function serve(): Promise<void> {
  const file = options.data ? { file: options.data } : {};
  return withSandbox({ ...tenantOptions, ...file }, async (sandbox) => {
    const [command, ...args] = commandOf(options.server);
    const env = { ...settings(sandbox), ...clockAt(day) };
    const mcpServers = { 'cpq-mcp-evals': { command, args, env } };
    print(JSON.stringify({ mcpServers }, undefined, 2));
    await new Promise((resolve) => process.once('SIGINT', resolve));
  });
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
