import { writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { connect, type Era, type Person } from './clients.ts';
import { send as sendRaw } from './fast-path-parity.ts';
import { freePort } from './free-port.ts';
import { type Caller, callerWith, type HttpServer } from './hosts.ts';
import { type Environment, type Finished, runHere, startHere } from './process.ts';
import type { Address } from './sandbox.ts';
import { newFolder } from './shared.ts';

export type Headers = Record<string, string>;

export async function fileIn(folder: string, name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** A server with several callers, and its output. */
export interface Team extends HttpServer {
  stderr(): string;
}

/** Enough for tests that call again and again. */
const highLimits = { CPQ_RATE_LIMIT: '1000000', CPQ_CALLS_PER_MINUTE: '1000000' };

export async function startTeam(env: Environment, secrets: readonly string[] = []): Promise<Team> {
  // A server with a public address does not print the port that it listens on.
  const port = await freePort();
  const running = await startHere(['http', '--port', String(port)], { ...highLimits, ...env });
  for (const secret of secrets) running.output.guard(secret);
  await running.says(/Stop with Ctrl-C/);
  const stderr = () => running.output.stderr;
  return { running, url: `http://127.0.0.1:${port}/mcp`, stderr };
}

/** A server whose callers have keys of the service at these addresses. */
export const startKeyed = (baseUrls: string, more: Environment = {}): Promise<Team> =>
  startTeam({
    CPQ_AUTH: 'key',
    CPQ_STATE_DIR: newFolder(),
    CPQ_KEY_BASE_URLS: baseUrls,
    CPQ_ALLOW_PRIVATE: '1',
    CPQ_TRUSTED_PROXIES: '127.0.0.1',
    ...more,
  });

/** A server of a tenant whose callers have access tokens. */
export interface TokenTeam extends Team {
  /** The state folder, which has the tokens. */
  folder: string;
  /** Of the token command. */
  env: Environment;
  /** Creates a token, which the server may write nowhere. */
  add(...words: string[]): Promise<string>;
}

export async function startWithTokens(
  { baseUrl, key }: Address,
  more: Environment = {},
): Promise<TokenTeam> {
  const folder = newFolder();
  const env = { CPQ_STATE_DIR: folder };
  const where = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_AUTH: 'token' };
  const team = await startTeam({ ...where, ...env, ...more }, [key]);
  const add = async (...words: string[]) => {
    const made = await newToken(words, env);
    team.running.output.guard(made);
    return made;
  };
  return { ...team, folder, env, add };
}

/** A caller of the server with these headers. */
export const callerAt = async (
  { running, url }: HttpServer,
  headers: Headers,
  { era = 'modern', person }: { era?: Era; person?: Person } = {},
): Promise<Caller> => callerWith(await connect(era, { running, url, headers, person }));

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** The answer to one request; it is also recorded with the server's output. */
export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  body: Record<string, unknown>;
}

export interface Sent {
  method?: string;
  path?: string;
  /** As sent, so that a header may occur twice. */
  headers?: Record<string, string | string[] | undefined>;
  body?: unknown;
  /** Called with each chunk of the answer. */
  onPart?: (text: string) => void;
}

/** Sends one request without a client library. */
export async function send({ running, url }: HttpServer, sent: Sent = {}): Promise<Reply> {
  const { method = 'POST', path = '/mcp', headers = {}, body = listTools, onPart } = sent;
  const isGet = method === 'GET';
  const usual = {
    accept: 'application/json, text/event-stream',
    ...(isGet ? {} : { 'content-type': 'application/json' }),
  };
  const all = Object.entries({ ...usual, ...headers }).filter(([, it]) => it !== undefined);
  const reply = await sendRaw(
    url,
    { method, headers: Object.fromEntries(all), body: isGet ? '' : JSON.stringify(body) },
    { path, ...(onPart && { onPart: (part) => onPart(part.toString()) }) },
  );
  const { status = 0, headers: received, body: text } = reply;
  running.output.add('http', Buffer.from(JSON.stringify(received) + text));
  const isJson = String(received['content-type']).includes('application/json');
  return { status, headers: received, text, body: isJson && text !== '' ? JSON.parse(text) : {} };
}

const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

export const callToolRequest = (name: string, args: unknown = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** Runs `cpq-mcp token …`. */
export const token = (words: readonly string[], env: Environment): Promise<Finished> =>
  runHere(['token', ...words], env);

/** Creates a token with the command. @throws with its stderr when it fails */
export async function newToken(words: readonly string[], env: Environment): Promise<string> {
  const { status, stdout, stderr } = await token(['add', ...words], env);
  if (status !== 0) throw new Error(`token add: ${status} ${stderr}`);
  return stdout.trim();
}
