import type { Client, RequestOptions, Result } from '@modelcontextprotocol/client';
import { toolsets } from '../../src/tool-kit/define-tool.ts';
import {
  type CallOptions,
  connect,
  type Era,
  type McpClient,
  type Person,
  type Tool,
} from './clients.ts';
import { type Environment, type Running, start, startHere } from './process.ts';
import type { Recording } from './recording.ts';
import { type Address, addressIn, type KeyName, type Sandbox, testKey } from './sandbox.ts';
import { newFolder, shared } from './shared.ts';

export type Row = Record<string, unknown>;

/** A tool's result as hosts see it. */
export interface Answer {
  /** For hosts that show `content`. */
  text: string;
  /** For hosts that read `structuredContent`; empty on an error. */
  data: Row;
  isError: boolean;
  records: Row[];
  page: { shown: number; from: number; total: number; next?: number };
  coverage: { complete: boolean; read: number; total: number; asOf: string; reason?: string };
  /** As returned by the client. */
  result: Result;
}

/** A real client that is connected to a server. */
export interface Caller {
  tools(): Promise<Tool[]>;
  /** The names of its tools. */
  names(): Promise<string[]>;
  /** Calls a tool. @throws if the answer is an error */
  call(name: string, args?: unknown, options?: CallOptions): Promise<Answer>;
  /** Calls a tool that must refuse. @returns the text of the error @throws if it does not refuse */
  refused(name: string, args?: unknown, options?: CallOptions): Promise<string>;
  /** Calls a tool; the answer may be an error. */
  ask(name: string, args?: unknown, options?: CallOptions): Promise<Answer>;
  request(method: string, params?: Row): Promise<Result>;
  client: McpClient;
  close(): Promise<void>;
}

/** A running HTTP server. */
export interface HttpServer {
  running: Running;
  url: string;
}

/** A running server with a client; both are closed together. */
export interface Connection extends Caller {
  process: Running;
  output: Recording;
  /** Address of the HTTP endpoint. */
  url: string | undefined;
}

export interface ServerSettings {
  /** As in `CPQ_GRANTS`. */
  grants?: string;
  /** As in `CPQ_TOOLSETS`. */
  toolsets?: string;
  /** Further command-line arguments. */
  argv?: readonly string[];
  env?: Environment;
  /** Answers the server's questions; without one the client does not support them. */
  person?: Person | undefined;
}

/** Where a tenant's data is: at an address with a key, at a service that a test started, or in the server itself. */
type Service = Address | Sandbox | { url: string; key?: string } | 'embedded';

export interface OpenOptions extends ServerSettings {
  /** By default the embedded tenant. */
  at?: Service | ((as?: KeyName) => Promise<Service> | Service);
  /** The name of a sandbox's key. */
  as?: KeyName | undefined;
  /** The key for a service that is no sandbox. */
  key?: string;
  /** By default over HTTP in this process, for tests that depend on no transport. */
  on?: Host | undefined;
  /** The server's state folder, by default one of its own. */
  folder?: string;
  /** The server receives webhooks with this secret. */
  webhookSecret?: string;
}

/** An era of the protocol over a transport. */
export interface Host {
  /** Such as `modern over stdio`. */
  name: string;
  era: Era;
  transport: 'stdio' | 'http';
  /** Starts the server's program. */
  begin: typeof start;
}

/** Settings with which every tool is listed, including those that write. */
export const everything = {
  grants: 'read,opportunity:write',
  toolsets: toolsets.join(','),
} satisfies ServerSettings;

/** For tests that read a tenant many times. */
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

/** Starts a server of a tenant, and connects a real client. */
export async function open({ on = httpHere, ...options }: OpenOptions = {}): Promise<Connection> {
  const { running, url } = await startOn(on, options);
  const client = await connect(on.era, { running, url, person: options.person });
  return createConnection(client, running, url);
}

/** Starts a server over HTTP, by default as a process, for other clients than that of `open`. */
export async function startServer({
  on = modernHttp,
  ...options
}: OpenOptions = {}): Promise<HttpServer> {
  const { running, url = '' } = await startOn(on, options);
  return { running, url };
}

async function startOn({ transport, begin }: Host, options: OpenOptions) {
  const { folder = newFolder(), webhookSecret, argv = [], ...settings } = options;
  const own = { CPQ_STATE_DIR: folder, CPQ_WEBHOOK_SECRET: webhookSecret };
  const env = { ...own, ...environmentFor(await addressOf(options), settings) };
  if (transport === 'stdio') return { running: await begin(['stdio', ...argv], env) };
  const running = await begin(['http', '--port', '0', ...argv], env);
  const [url] = await running.says(/http:\/\/[^\s"']+\/mcp\b/);
  return { running, url };
}

async function addressOf({ at = 'embedded', as, key }: OpenOptions): Promise<Address | 'embedded'> {
  const service = typeof at === 'function' ? await at(as) : at;
  if (service === 'embedded') return service;
  if ('tenants' in service) return addressIn(service, as);
  if ('baseUrl' in service) return { ...service, ...(key !== undefined && { key }) };
  return { baseUrl: service.url, key: key ?? service.key ?? testKey };
}

export type Calls = Pick<Caller, 'ask' | 'call' | 'refused'>;

/** The ways to call a tool, by one of them. */
export const callsBy = (ask: Caller['ask']): Calls => ({
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
});

/** A connection that is opened on first use, and once for all tests of the file. */
export interface Serving extends Calls, Pick<Caller, 'tools' | 'names' | 'request'> {
  (): Promise<Connection>;
}

/** Like `open`, on first use. */
export function serving(options: OpenOptions = {}): Serving {
  const connection = shared(() => open(options));
  return Object.assign(connection, {
    ...callsBy(async (...asked) => (await connection()).ask(...asked)),
    tools: async () => (await connection()).tools(),
    names: async () => (await connection()).names(),
    request: async (...asked: Parameters<Caller['request']>) =>
      (await connection()).request(...asked),
  });
}

/** The calls of a client of the SDK. */
export const callsOf = (client: Pick<Client, 'callTool'>): Calls =>
  callsBy(async (name, args = {}, options = {}) =>
    answerOf(await client.callTool({ name, arguments: args as Row }, options as RequestOptions)),
  );

/** A caller by such a client. */
export const callerWith = (client: McpClient): Caller => ({
  tools: () => client.tools(),
  names: async () => (await client.tools()).map(({ name }) => name),
  ...callsBy(async (name, args, options = {}) =>
    answerOf(await client.callTool(name, args, options)),
  ),
  request: (method, params) => client.request(method, params),
  client,
  close: () => client.close(),
});

const createConnection = (client: McpClient, running: Running, url?: string): Connection => ({
  ...callerWith(client),
  process: running,
  output: running.output,
  url,
  async close() {
    await client.close();
    await running.stop();
  },
});

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

const createHost = (era: Era, transport: Host['transport'], begin = start): Host => ({
  name: `${era} over ${transport}`,
  era,
  transport,
  begin,
});

const eras: readonly Era[] = ['modern', 'legacy', 'first line'];

export const stdioHosts: readonly Host[] = eras.map((era) => createHost(era, 'stdio'));
export const httpHosts: readonly Host[] = eras.map((era) => createHost(era, 'http'));

/** Every era over every transport. */
export const everyHost: readonly Host[] = [...stdioHosts, ...httpHosts];

/** A process that serves the modern era over stdio. */
export const modernStdio: Host = createHost('modern', 'stdio');
/** One that serves it over HTTP. */
export const modernHttp: Host = createHost('modern', 'http');

/** As `everyHost`, in this process: for tests that do not depend on how a process starts, writes and ends. */
export const everyHostHere: readonly Host[] = everyHost.map(({ era, transport }) =>
  createHost(era, transport, startHere),
);

/** One of these over each transport. */
export const stdioHere: Host = createHost('modern', 'stdio', startHere);
export const httpHere: Host = createHost('modern', 'http', startHere);
