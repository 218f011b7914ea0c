import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test } from 'vitest';
import { newToken, startTeam } from '../support/access.ts';
import { describeWithNpm, installed, runOnNewerNode } from '../support/npm.ts';
import { run } from '../support/process.ts';
import { shownTools } from '../support/samples.ts';
import { newFolder, shared } from '../support/shared.ts';

/** Hosts of other projects, configured by `cpq-mcp config`, with a server that requires access tokens. */

const team = shared(async () => {
  const env = { CPQ_SANDBOX: '1', CPQ_AUTH: 'token', CPQ_STATE_DIR: newFolder() };
  const server = await startTeam(env);
  return { url: server.url, token: await newToken(['anna', '--grants', 'read'], env) };
});

/** Tools that a token with the grant `read` lists. */
const readingTools = shownTools.filter(
  ({ hints, toolset }) => hints.readOnlyHint && ['routes', 'briefs'].includes(toolset),
).length;

/** Writes the configuration of a host. @returns the environment in which the host finds it, and the token */
async function configured(host: string, file: string) {
  const { url, token } = await team();
  const home = newFolder();
  const words = ['--http', url, '--auth', 'token', '--write', '--file', join(home, file)];
  const { status, stderr } = await run(['config', host, ...words]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return { home, token, env: { HOME: home, CPQ_ACCESS_TOKEN: token } };
}

/** The words after the name of the program, of the command by which a host adds the server to its own file. */
async function addCommand(host: string, url: string): Promise<string[]> {
  const { stderr } = await run(['config', host, '--http', url, '--auth', 'token']);
  const [, words = ''] = new RegExp(`${host} (mcp add .*)\\n`).exec(stderr) ?? [];
  return [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
}

describeWithNpm('a server with access tokens', () => {
  test('is used by Gemini CLI in a trusted folder, with the right token alone', async () => {
    const folder = await installed('@google/gemini-cli@0.61.0');
    const gemini = join(folder, 'node_modules/@google/gemini-cli/bundle/gemini.js');
    const { url, token } = await team();
    const env = { HOME: newFolder(), CPQ_ACCESS_TOKEN: token };
    const words = await addCommand('gemini', url);
    await runOnNewerNode([gemini, ...words], env.HOME, env);
    const status = async (more: Record<string, string>) => {
      const { stdout, stderr } = await runOnNewerNode([gemini, 'mcp', 'list'], env.HOME, {
        ...env,
        ...more,
      });
      return /cpq-mcp: .* - (\w+)/.exec(stdout + stderr)?.[1];
    };
    const trust = { GEMINI_CLI_TRUST_WORKSPACE: 'true' };
    expect(await status(trust)).toBe('Connected');
    expect(await status({ ...trust, CPQ_ACCESS_TOKEN: 'cpq_wrong' })).toBe('Disconnected');
    expect(await status({})).toBe('Disabled');
  });

  test('lists its tools to Codex, whose own command adds it', async () => {
    const folder = await installed('@openai/codex@0.169.0');
    const codex = join(folder, 'node_modules/@openai/codex/bin/codex.js');
    const { url, token } = await team();
    const env = { HOME: newFolder(), CPQ_ACCESS_TOKEN: token };
    const words = await addCommand('codex', url);
    await runOnNewerNode([codex, ...words], env.HOME, env);
    const [server] = await serversOfCodex(codex, env);
    expect(server?.name).toBe('cpq-mcp');
    expect(Object.keys(server?.tools ?? {})).toHaveLength(readingTools);
  });

  test('answers through mcp-remote, as Claude Desktop starts it', async () => {
    const folder = await installed('mcp-remote@0.15.1');
    const { home, token } = await configured('claude-desktop', 'claude_desktop_config.json');
    const file = await readFile(join(home, 'claude_desktop_config.json'), 'utf8');
    const filled = JSON.parse(file.replace('YOUR_ACCESS_TOKEN', token)).mcpServers['cpq-mcp'];
    expect([filled.command, ...filled.args.slice(0, 2)]).toEqual([
      'npx',
      '-y',
      'mcp-remote@0.15.1',
    ]);
    const client = new Client({ name: 'test', version: '1' });
    const program = join(folder, 'node_modules/mcp-remote/dist/proxy.js');
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [program, ...filled.args.slice(2)],
        env: { ...filled.env, HOME: home, PATH: process.env.PATH ?? '' },
        stderr: 'ignore',
      }),
    );
    const { tools } = await client.listTools();
    await client.close();
    expect(tools).toHaveLength(readingTools);
  });

  test('answers mcporter, from the file of Copilot CLI', async () => {
    const folder = await installed('mcporter@0.12.3');
    const mcporter = join(folder, 'node_modules/mcporter/dist/cli.js');
    const { home, env } = await configured('copilot-cli', 'mcp-config.json');
    const words = ['--config', join(home, 'mcp-config.json'), 'call', 'cpq-mcp.cpq_list_companies'];
    const { stdout } = await runOnNewerNode([mcporter, ...words, 'size:2'], home, env);
    expect(JSON.parse(stdout).records).toHaveLength(2);
  });

  test('answers the Inspector with a header, and not without', async () => {
    const folder = await installed('@modelcontextprotocol/inspector@2.12.0');
    const launcher = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
    const { url, token } = await team();
    const list = async (...words: readonly string[]) =>
      runOnNewerNode(
        [
          join(folder, launcher),
          ...['--cli', '--format', 'json', '--method', 'tools/list', ...words],
          ...['--server-url', url],
        ],
        folder,
      );
    const { stdout } = await list('--header', `Authorization: Bearer ${token}`);
    expect(JSON.parse(stdout).result.tools).toHaveLength(readingTools);
    expect((await list()).status).not.toBe(0);
  });
});

interface CodexServer {
  name: string;
  tools: Record<string, unknown>;
}

/** The servers that Codex connected to, as its app server reports over stdio. */
async function serversOfCodex(
  program: string,
  env: Record<string, string>,
): Promise<CodexServer[]> {
  const codex = spawn(process.execPath, [program, 'app-server'], {
    env: { ...env, PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(codex, 'close');
  const send = (message: unknown) => codex.stdin.write(`${JSON.stringify(message)}\n`);
  try {
    const clientInfo = { name: 'test', title: 'test', version: '1' };
    send({ id: 1, method: 'initialize', params: { clientInfo } });
    for await (const line of createInterface(codex.stdout)) {
      const { id, result } = JSON.parse(line);
      if (id === 1) send({ id: 2, method: 'mcpServerStatus/list', params: {} });
      if (id === 2) return result.data;
    }
    throw new Error('Codex ended without an answer');
  } finally {
    codex.kill();
    await ended;
  }
}
