import type { Result } from '@modelcontextprotocol/client';
import { toolsets } from '../../src/tool-kit/define-tool.ts';
import {
  type CallOptions,
  connect,
  type Era,
  type McpClient,
  type Person,
  type Tool,
} from './clients.ts';
import { type Environment, type Running, start } from './process.ts';
import type { Recording } from './recording.ts';
import type { Address } from './sandbox.ts';
import { shared } from './shared.ts';

export type Row = Record<string, unknown>;

/** A tool's result, as both kinds of host see it. */
export interface Answer {
  /** What a host shows that reads `content`. */
  text: string;
  /** What a host shows that reads `structuredContent`; empty on an error. */
  data: Row;
  isError: boolean;
  records: Row[];
  page: { shown: number; from: number; total: number; next?: number };
  coverage: { complete: boolean; read: number; total: number; asOf: string; reason?: string };
  /** As the client handed it on. */
  result: Result;
}

/** A server that runs, and a real client connected to it. */
export interface Connection {
  tools(): Promise<Tool[]>;
  /** Calls a tool. @throws when it is answered with an error */
  call(name: string, args?: unknown, options?: CallOptions): Promise<Answer>;
  /** Calls a tool that has to refuse. @returns its words @throws when it does not */
  refused(name: string, args?: unknown, options?: CallOptions): Promise<string>;
  /** Calls a tool; the answer may be an error. */
  ask(name: string, args?: unknown, options?: CallOptions): Promise<Answer>;
  request(method: string, params?: Row): Promise<Result>;
  client: McpClient;
  process: Running;
  output: Recording;
  /** Of the HTTP endpoint. */
  url: string | undefined;
  close(): Promise<void>;
}

export interface ServerSettings {
  /** As in `CPQ_GRANTS`. */
  grants?: string;
  /** As in `CPQ_TOOLSETS`. */
  toolsets?: string;
  /** Further words on the command line. */
  argv?: readonly string[];
  env?: Environment;
  /** Answers what the server asks; without one the client says that it cannot ask. */
  person?: Person | undefined;
}

/** One way to reach the server: an era of the protocol over a transport. */
export interface Host {
  /** As in `modern over stdio`. */
  name: string;
  era: Era;
  transport: 'stdio' | 'http';
  /** Starts a server for that tenant, or for the embedded one, and connects. */
  start(address: Address | 'embedded', settings?: ServerSettings): Promise<Connection>;
  /** The same, when it is first asked for, and one for all tests of the file. */
  serving(
    address: () => Promise<Address> | Address | 'embedded',
    settings?: ServerSettings,
  ): () => Promise<Connection>;
}

/** Every tool that there is, the writing ones too. */
export const everything = {
  grants: 'read,opportunity:write',
  toolsets: toolsets.join(','),
} satisfies ServerSettings;

/** Room for tests that walk a tenant without a rate limit many times over. */
const highRateLimit = '1000000';

export function environmentFor(
  address: Address | 'embedded',
  { grants, toolsets, env }: ServerSettings = {},
): Environment {
  const what = { CPQ_GRANTS: grants, CPQ_TOOLSETS: toolsets };
  if (address === 'embedded') return { CPQ_SANDBOX: '1', ...what, ...env };
  const { baseUrl, key } = address;
  const where = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: key, CPQ_RATE_LIMIT: highRateLimit };
  return { ...where, ...what, ...env };
}

function createHost(era: Era, transport: Host['transport']): Host {
  const start = (address: Address | 'embedded', settings: ServerSettings = {}) =>
    transport === 'stdio' ? startStdio(era, address, settings) : startHttp(era, address, settings);
  return {
    name: `${era} over ${transport}`,
    era,
    transport,
    start,
    serving: (address, settings) => shared(async () => start(await address(), settings)),
  };
}

async function startStdio(
  era: Era,
  address: Address | 'embedded',
  settings: ServerSettings,
): Promise<Connection> {
  const argv = ['stdio', ...(settings.argv ?? [])];
  const running = await start(argv, environmentFor(address, settings));
  return createConnection(await connect(era, { running, person: settings.person }), running);
}

async function startHttp(
  era: Era,
  address: Address | 'embedded',
  settings: ServerSettings,
): Promise<Connection> {
  const { running, url } = await startHttpServer(address, settings);
  const client = await connect(era, { running, url, person: settings.person });
  return createConnection(client, running, url);
}

/** The server alone, for clients of one's own. */
export async function startHttpServer(
  address: Address | 'embedded',
  settings: ServerSettings = {},
): Promise<{ running: Running; url: string }> {
  const argv = ['http', '--port', '0', ...(settings.argv ?? [])];
  const running = await start(argv, environmentFor(address, settings));
  const [url] = await running.says(/http:\/\/[^\s"']+\/mcp\b/);
  return { running, url };
}

function createConnection(client: McpClient, running: Running, url?: string): Connection {
  const ask = async (name: string, args?: unknown, options: CallOptions = {}) =>
    answerOf(await client.callTool(name, args, options));
  return {
    tools: () => client.tools(),
    ask,
    async call(name, args, options) {
      const answer = await ask(name, args, options);
      if (answer.isError) throw new Error(`${name} was refused: ${answer.text}`);
      return answer;
    },
    async refused(name, args, options) {
      const answer = await ask(name, args, options);
      if (!answer.isError) throw new Error(`${name} was not refused: ${answer.text}`);
      return answer.text;
    },
    request: (method, params) => client.request(method, params),
    client,
    process: running,
    output: running.output,
    url,
    async close() {
      await client.close();
      await running.stop();
    },
  };
}

interface Content {
  content?: { type: string; text?: string }[];
  structuredContent?: Row;
  isError?: boolean;
}

export function answerOf(result: Result): Answer {
  const { content = [], structuredContent = {}, isError = false } = result as Content;
  const text = content.map((part) => part.text ?? '').join('\n');
  const { records = [], page, coverage } = structuredContent as Partial<Answer>;
  return { text, data: structuredContent, isError, records, page, coverage, result } as Answer;
}

const eras: readonly Era[] = ['modern', 'legacy', 'first line'];

export const stdioHosts: readonly Host[] = eras.map((era) => createHost(era, 'stdio'));
export const httpHosts: readonly Host[] = eras.map((era) => createHost(era, 'http'));

/** Every era over every transport. */
export const everyHost: readonly Host[] = [...stdioHosts, ...httpHosts];

/** For what does not depend on how the server is reached. */
export const anyHost: Host = createHost('modern', 'stdio');
