import { spawn } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, inject, test } from 'vitest';
import { addressIn, type Sandbox, startSandbox } from '../support/sandbox.ts';
import { newFolder } from '../support/shared.ts';

/** Runs the commands of the documents, line by line, as they are written there. */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** CI runs these separately, or they need what a test does not have: a model, another Node, a commit. */
const runElsewhere = [
  /^npm ci\b/,
  /^npm (test|start|run (test:|check|lint|format|build|bench|eval))/,
  /^bash \.ci\/run/,
  /^npx /,
  /\bnpm run eval\b/,
];

/** These serve until they are stopped: they have succeeded with this output. */
const ready = /\/mcp\b|Stop with Ctrl-C/;
const serves = /\bcpq-mcp(\.js)? (http|sandbox)\b/;

let sandbox: Sandbox;
let home: string;

beforeAll(async () => {
  sandbox = await startSandbox({ scale: 0.1, rateLimit: false });
  home = newFolder();
  await mkdir(join(home, 'bin'));
  const program = join(home, 'bin', 'cpq-mcp');
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${inject('bundle')}" "$@"\n`);
  await chmod(program, 0o755);
  await writeFile(join(home, 'cpq.key'), addressIn(sandbox).key, { mode: 0o600 });
  await writeFile(join(home, 'answers.json'), '{"open-total":"Unknown."}');
});

interface Documented {
  file: string;
  line: string;
}

async function commands(): Promise<Documented[]> {
  const docs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
  const files = ['README.md', 'CONTRIBUTING.md', ...docs.map((name) => `docs/${name}`)];
  const all = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(root, file), 'utf8');
      const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
      const lines = blocks.flatMap((block) => block.replaceAll('\\\n', ' ').split('\n'));
      return lines.map((line) => ({ file, line: line.split(/\s#\s/)[0]?.trim() ?? '' }));
    }),
  );
  return all.flat().filter(({ line }) => line !== '' && !line.startsWith('#'));
}

/** Replaces the address and the key that the document leaves open, and uses free ports. */
function filled(line: string): string {
  const { baseUrl, key } = addressIn(sandbox, 'all');
  return (
    line
      .replaceAll(/CPQ_BASE_URL=\S*…/g, `CPQ_BASE_URL=${baseUrl}`)
      .replaceAll(/--base-url \S*…/g, `--base-url ${baseUrl}`)
      .replaceAll('CPQ_API_KEY=…', `CPQ_API_KEY=${key}`)
      .replaceAll('https://tenant.example.com', baseUrl)
      .replaceAll(/~\S+\/key\b|\/run\/secrets\/[a-z-]+/g, join(home, 'cpq.key'))
      .replaceAll('connect HOST', 'connect cursor')
      // Another host: an entry that is already there is not overwritten.
      .replaceAll('config HOST', 'config copilot-cli')
      .replaceAll('--port 4010', '--port 0')
      .replaceAll(/\b(answers\.json|calls\.jsonl)/g, join(home, '$1'))
      .replaceAll(/(--tenant|forget) acme/g, '$1 default')
      .replaceAll('node dist/cpq-mcp.js', 'cpq-mcp')
      .replace(/\bcpq-mcp http\b/, 'cpq-mcp http --port 0')
  );
}

interface Outcome {
  status: number | null;
  output: string;
}

function run(line: string): Promise<Outcome> {
  const { baseUrl, key } = addressIn(sandbox, 'all');
  const child = spawn('sh', ['-c', `exec ${line}`.replace(/^exec (?=[A-Z_]+=)/, 'exec env ')], {
    cwd: root,
    env: {
      PATH: `${join(home, 'bin')}:${process.env.PATH}`,
      HOME: home,
      CPQ_BASE_URL: baseUrl,
      CPQ_API_KEY: key,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {}); // Most commands ask nothing, and may end before.
  child.stdin.end(`${baseUrl}\n${key}\n`);
  return new Promise((resolve) => {
    let output = '';
    const onData = (chunk: Buffer): void => {
      output += chunk;
      if (serves.test(line) && ready.test(output)) child.kill();
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    child.on('close', (status, signal) =>
      resolve({ status: signal !== null && ready.test(output) ? 0 : status, output }),
    );
  });
}

test('every command of the documents does what it is shown for', async () => {
  const shown = (await commands()).filter(({ line }) => !runElsewhere.some((it) => it.test(line)));
  expect(shown.length).toBeGreaterThan(5);
  const failed: string[] = [];
  for (const { file, line } of shown) {
    // Fills the state, of which commands before it left nothing.
    if (line.includes('forget acme')) await run('cpq-mcp export cpq_brief_pipeline');
    const { status, output } = await run(filled(line));
    if (status !== 0) failed.push(`${file}: ${line}\n${output}`);
  }
  expect(failed).toEqual([]);
});
