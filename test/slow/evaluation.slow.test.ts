import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beforeAll, expect, inject, test } from 'vitest';
import { type LocalServer, listen } from '../support/local-server.ts';
import { closing, newFolder } from '../support/shared.ts';

const run = promisify(execFile);

interface Request {
  messages: { role: string; content?: string | null }[];
  tools: { function: { name: string } }[];
}

let folder: string;
let endpoint: LocalServer;
const requests: Request[] = [];

/** Name and number of each group in the text of a brief. */
const countsIn = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim().split('|'))
    .filter(({ length }) => length > 5)
    .map(([name, count]) => `${name}: ${count}`)
    .join('\n');

/** A model that calls the brief of the open pipeline and tells its numbers by stage. */
beforeAll(async () => {
  folder = newFolder();
  endpoint = closing(
    await listen(async (request, response) => {
      const body = (await json(request)) as Request;
      requests.push(body);
      const result = body.messages.findLast(({ role }) => role === 'tool');
      const call = { name: 'cpq_brief_pipeline', arguments: JSON.stringify({ by: 'stage' }) };
      const message = result
        ? { role: 'assistant', content: countsIn(result.content ?? '') }
        : { role: 'assistant', tool_calls: [{ id: 'call-1', type: 'function', function: call }] };
      const finish_reason = result ? 'stop' : 'tool_calls';
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason }] }));
    }),
  );
});

const evaluate = async (...options: string[]): Promise<string> => {
  const address = { EVAL_MODEL: 'scripted', EVAL_BASE_URL: `${endpoint.url}/v1` };
  const args = ['scripts/run-ts.mjs', 'evals/run.ts', '--server', inject('bundle'), ...options];
  const { stdout } = await run(process.execPath, args, { env: { ...process.env, ...address } });
  return stdout;
};

test('plays questions with a model behind an OpenAI-compatible address, and scores them', async () => {
  const out = join(folder, 'transcript.jsonl');
  const stdout = await evaluate('--only', 'by-stage,invoices', '--out', out);
  expect(stdout).toMatch(/right\tby-stage\t1\t\d+/);
  expect(stdout).toMatch(/wrong\tinvoices/);
  expect(stdout).toMatch(/1 of 2 right, 1\.0 calls a question, [\d.]+ tokens a question/);
  const offered = requests[0]?.tools.map((tool) => tool.function.name);
  expect(offered).toContain('cpq_upsert_opportunity');
  expect(requests[0]?.messages[0]).toMatchObject({ role: 'system' });

  const again = await evaluate('--transcript', out);
  expect(again).toMatch(/right\tby-stage/);
  expect(again).toContain('not answered: open-total');
  expect((await readFile(out, 'utf8')).trim().split('\n')).toHaveLength(2);
});

test('scores answers that came from elsewhere, without calls and tokens', async () => {
  const file = join(folder, 'elsewhere.jsonl');
  await writeFile(file, `${JSON.stringify({ id: 'overdue', answer: 'None at all.' })}\n`);
  const stdout = await evaluate('--transcript', file);
  expect(stdout).toContain('0 of 1 right\n');
});

test('a model without an address reads the tools, calls one, and has its answers scored', async () => {
  const tools = await evaluate('--tools');
  expect(tools).toContain('## cpq_brief_pipeline');
  const [log, answers] = [join(folder, 'calls.jsonl'), join(folder, 'answers.json')];
  const args = JSON.stringify({ by: 'stage', sections: ['groups'] });
  const asked = ['--question', 'by-stage', '--log', log];
  const byStage = await evaluate('--call', 'cpq_brief_pipeline', '--args', args, ...asked);
  expect(byStage).toMatch(/^115 open opportunities/);
  const form = 'F1: 22\nF2: 1 USD\nF3: unknown';
  await writeFile(
    answers,
    JSON.stringify({ 'by-stage': countsIn(byStage), 'template-forecast': form }),
  );
  const only = 'by-stage,template-forecast,overdue';
  const stdout = await evaluate('--answers', answers, '--log', log, '--only', only);
  expect(stdout).toMatch(/right\tby-stage\t1\t\d+/);
  expect(stdout).toMatch(/no answer\toverdue/);
  expect(stdout).toContain('lines of forms: 1 of 34 right, 1 wrong, 32 without an answer');
  expect(stdout).toContain('1 of 3 right');
});
