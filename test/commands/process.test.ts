import { expect, test } from 'vitest';
import { run, runHere } from '../support/process.ts';

/** Most tests run commands in their own process. */

const env = { CPQ_BASE_URL: 'http://127.0.0.1:9', CPQ_API_KEY: 'k'.repeat(30) };

const uses = [
  ['config', 'claude-desktop'],
  ['config', 'vscode', '--write'],
  ['doctor'],
  ['doctor', '--json'],
  ['doctor', '--grants', 'all'],
  ['token', 'list'],
  ['token', 'revoke', 'nobody'],
  ['serve'],
  ['stdio', '--grants', 'all'],
  ['http', '--port', 'x'],
  ['http', '--host', '0.0.0.0'],
  ['http', '--help'],
] as const;

test.each(uses.map((argv) => ({ argv })))(
  'a process prints what the function does, and ends with its status: $argv',
  async ({ argv }) => {
    const { status, ...shown } = await runHere(argv, env);
    expect(await run(argv, env)).toEqual({ status, ...shown });
    expect(shown.stdout + shown.stderr).not.toBe('');
  },
);
