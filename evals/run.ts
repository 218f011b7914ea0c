// npm run eval: plays the questions with a model and prints what was right and what it cost. See docs/evals.md.
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type Sandbox, startSandbox } from '../src/sandbox/index.ts';
import { clockAt } from '../test/support/clock.ts';
import { callAndLog, readAnswers, toolsAsGiven } from './by-hand.ts';
import { modelFrom, type Played, play } from './model.ts';
import { commandOf, settings, startServer } from './played-server.ts';
import { questions } from './questions/index.ts';
import { type Result, report } from './report.ts';
import { faults, marks } from './score.ts';
import { type AskedQuestion, askedQuestion, day, tenantOptions, unmet } from './truth.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    out: { type: 'string' },
    transcript: { type: 'string' },
    data: { type: 'string' },
    tools: { type: 'boolean' },
    call: { type: 'string' },
    args: { type: 'string', default: '{}' },
    question: { type: 'string', default: '' },
    log: { type: 'string' },
    answers: { type: 'string' },
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
  --tools            print the instructions and tools as a model is given them
  --call TOOL        call one tool with --args JSON; --question ID and --log FILE count the call
  --answers FILE     score answers from elsewhere: one JSON object, an answer by id; with --log FILE also calls and tokens
  --server FILE      another build of the server
  --serve            keep the tenant open and print the entry for an assistant's configuration
  --data FILE        the SQLite file of the tenant: with --serve and --call; else where changes are looked for`;

if (options.help) print(usage);
else if (options.serve) await serve();
else if (options.tools || options.call) await withSandbox(sandboxOfCall(), useServer);
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
  else if (options.transcript) await scorePlayed(asked, await readTranscript(options.transcript));
  else if (options.answers) await scoreAnswers(asked, options.answers);
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

/** Scores answers of elsewhere: a question that is asked and has none is not answered. */
async function scoreAnswers(asked: readonly AskedQuestion[], file: string): Promise<void> {
  const answers = await readAnswers(file, options.log);
  const unknown = answers.filter(({ id }) => !questions.some((question) => question.id === id));
  if (unknown.length > 0)
    throw new Error(`No question is ${unknown.map(({ id }) => id).join(', ')}.`);
  const answered = new Set(answers.map(({ id }) => id));
  const others = asked.filter(({ id }) => !answered.has(id));
  await scorePlayed(asked, [...answers, ...others.map(({ id }) => ({ id, answer: '' }))]);
}

/** Scores what was played elsewhere. Changes are checked in the tenant's file, if it is given. */
async function scorePlayed(asked: readonly AskedQuestion[], played: Played[]): Promise<void> {
  const answers = new Map(played.map((one) => [one.id, one]));
  const changed = options.data
    ? await startSandbox({ ...tenantOptions, file: options.data })
    : undefined;
  const results = asked.flatMap((question) => {
    const one = answers.get(question.id);
    return one ? [scored(question, one, changed)] : [];
  });
  await changed?.close();
  const missing = asked.filter(({ id }) => !answers.has(id)).map(({ id }) => id);
  print(report(results, missing));
}

function scored(question: AskedQuestion, played: Played, tenant: Sandbox | undefined): Result {
  // Played call by call, the others each had a tenant as it was at first.
  const isOfFile = options.answers === undefined || question.id.startsWith('write-');
  const left = tenant && isOfFile ? unmet(question, tenant.database) : [];
  return {
    ...played,
    marks: marks(question, played.answer),
    faults: [...faults(question, played.answer), ...left.map((column) => `not so: ${column}`)],
  };
}

async function readTranscript(file: string): Promise<Played[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  return lines.map(readPlayed);
}

function readPlayed(line: string): Played {
  const played = JSON.parse(line) as Played;
  if (typeof played.id !== 'string')
    throw new Error(`A line of the transcript has no id: ${line.slice(0, 80)}`);
  return played;
}

function sandboxOfCall(): Parameters<typeof startSandbox>[0] {
  return options.data ? { ...tenantOptions, file: options.data } : tenantOptions;
}

/** Prints the tools, or calls one of them with the person of the question. */
async function useServer(sandbox: Sandbox): Promise<void> {
  const server = await startServer(sandbox, options.server);
  try {
    const { call: tool, args, question: id, log } = options;
    server.person = questions.find((question) => question.id === id)?.person ?? 'decline';
    print(
      tool
        ? await callAndLog(server.client, { id, tool, args, log })
        : await toolsAsGiven(server.client),
    );
  } catch (error) {
    // Read by the model that called: an unknown tool, or arguments that are no JSON.
    print(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  } finally {
    await server.close();
  }
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
