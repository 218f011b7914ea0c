import {
  Client,
  type ElicitResult,
  type RequestOptions,
  type Result,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { RequestOptions as FirstRequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport as FirstTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ElicitRequestSchema,
  CallToolResultSchema as FirstCallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod';
import type { Running } from './process.ts';
import type { Recording } from './recording.ts';
import { pipesOf, recordingFetch } from './transports.ts';

export type { Tool } from '@modelcontextprotocol/client';

/**
 * `modern`: the second line of the SDK pinned to 2026-07-28; `legacy`: the same with the handshake of
 * 2025-11-25; `first line`: the client of the SDK's first line, which knows no other.
 */
export type Era = 'modern' | 'legacy' | 'first line';

/** A person in front of the client, for servers that ask. */
export type Person = (asked: { message: string; requestedSchema: unknown }) => ElicitResult;

export interface CallOptions {
  signal?: AbortSignal;
  /** Milliseconds until the client gives up. */
  timeout?: number;
  onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

/** What both versions of the client can do. */
export interface McpClient {
  readonly sdk: Client | FirstClient;
  tools(): Promise<Tool[]>;
  callTool(name: string, args: unknown, options: CallOptions): Promise<Result>;
  /** Any request of the protocol, its result as the client hands it on. */
  request(method: string, params?: Record<string, unknown>): Promise<Result>;
  /** The protocol version that was agreed on. */
  version(): string | undefined;
  instructions(): string | undefined;
  close(): Promise<void>;
}

export interface Wire {
  running: Running;
  /** Over stdio there is none. */
  url?: string;
  /** Sent with every request over HTTP. */
  headers?: Record<string, string>;
  person?: Person | undefined;
}

const modernVersion = '2026-07-28';
const anyResult = z.looseObject({});
const info = { name: 'cpq-mcp-tests', version: '1' };

export function connect(era: Era, wire: Wire): Promise<McpClient> {
  return era === 'first line' ? connectFirst(wire) : connectSecond(era, wire);
}

async function connectSecond(era: 'modern' | 'legacy', wire: Wire): Promise<McpClient> {
  const mode = era === 'modern' ? { pin: modernVersion } : 'legacy';
  const capabilities = wire.person ? { elicitation: { form: {} } } : {};
  const client = new Client(info, { capabilities, versionNegotiation: { mode } });
  const { person } = wire;
  if (person) {
    client.setRequestHandler('elicitation/create', ({ params }) => person(params as Asked));
  }
  await client.connect(secondTransport(wire));
  return {
    sdk: client,
    tools: async () => (await client.listTools()).tools,
    callTool: (name, args, options) =>
      client.callTool({ name, ...argumentsOf(args) }, options as RequestOptions),
    request: (method, params) => client.request({ method, params: params ?? {} }, anyResult),
    version: () => client.getNegotiatedProtocolVersion(),
    instructions: () => client.getInstructions(),
    close: () => client.close(),
  };
}

async function connectFirst(wire: Wire): Promise<McpClient> {
  const capabilities = wire.person ? { elicitation: {} } : {};
  const client = new FirstClient(info, { capabilities });
  const { person } = wire;
  if (person) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => person(params as Asked));
  }
  await client.connect(firstTransport(wire));
  return {
    sdk: client,
    tools: async () => (await client.listTools()).tools as Tool[],
    callTool: (name, args, options) =>
      client.callTool(
        { name, ...argumentsOf(args) },
        FirstCallToolResult,
        options as FirstRequestOptions,
      ),
    request: (method, params) => client.request({ method, params: params ?? {} }, anyResult),
    version: () => undefined,
    instructions: () => client.getInstructions(),
    close: () => client.close(),
  };
}

type Asked = Parameters<Person>[0];

/** Also what no well-behaved client would send. */
const argumentsOf = (args: unknown): { arguments?: Record<string, unknown> } =>
  args === undefined ? {} : { arguments: args as Record<string, unknown> };

function secondTransport({ running, url, headers }: Wire): Transport {
  if (url === undefined) return pipesOf(running);
  return new StreamableHTTPClientTransport(new URL(url), httpOptions(running.output, headers));
}

/** The two lines of the SDK write the same interface with different optional fields. */
function firstTransport({ running, url, headers }: Wire): FirstTransport {
  if (url === undefined) return pipesOf(running) as FirstTransport;
  return new FirstHttpTransport(
    new URL(url),
    httpOptions(running.output, headers),
  ) as FirstTransport;
}

const httpOptions = (recording: Recording, headers: Record<string, string> = {}) => ({
  fetch: recordingFetch(recording),
  requestInit: { headers },
});
