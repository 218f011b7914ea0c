import {
  Client,
  type ClientCapabilities,
  type ElicitResult,
  ReadBuffer,
  type RequestOptions,
  type Result,
  StreamableHTTPClientTransport,
  serializeMessage,
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

export type { Tool } from '@modelcontextprotocol/client';

/**
 * `modern`: version 2 of the SDK with revision 2026-07-28; `legacy`: the same with the handshake of 2025-11-25;
 * `first line`: version 1 of the SDK, which has only the handshake.
 */
export type Era = 'modern' | 'legacy' | 'first line';

/** The person who answers the server's questions. */
export type Person = (asked: { message: string; requestedSchema: unknown }) => ElicitResult;

export interface CallOptions {
  signal?: AbortSignal;
  /** Milliseconds until the client gives up. */
  timeout?: number;
  onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
}

/** The common interface of both versions of the client. */
export interface McpClient {
  readonly sdk: Client | FirstClient;
  tools(): Promise<Tool[]>;
  callTool(name: string, args: unknown, options: CallOptions): Promise<Result>;
  /** Sends any request of the protocol. @returns the result as the client returns it */
  request(method: string, params?: Record<string, unknown>): Promise<Result>;
  /** The negotiated protocol version. */
  version(): string | undefined;
  instructions(): string | undefined;
  close(): Promise<void>;
}

export interface Wire {
  running: Running;
  /** Absent over stdio. */
  url?: string | undefined;
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

/** What a client declares, and how it opens a connection. */
export interface ClientOptions {
  era?: 'modern' | 'legacy';
  /** Without one, the client has no forms. */
  person?: Person | undefined;
  /** Besides forms. */
  capabilities?: ClientCapabilities;
}

/** A connected client of version 2 of the SDK. */
export async function connectClient(
  transport: Transport,
  { era = 'modern', person, capabilities: others = {} }: ClientOptions = {},
): Promise<Client> {
  const mode = era === 'modern' ? { pin: modernVersion } : 'legacy';
  const capabilities = { ...others, ...(person && { elicitation: { form: {} } }) };
  const client = new Client(info, { capabilities, versionNegotiation: { mode } });
  if (person) {
    client.setRequestHandler('elicitation/create', ({ params }) => person(params as Asked));
  }
  await client.connect(transport);
  return client;
}

async function connectSecond(era: 'modern' | 'legacy', wire: Wire): Promise<McpClient> {
  const { person } = wire;
  const client = await connectClient(secondTransport(wire), { era, person });
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

/** May be invalid on purpose. */
const argumentsOf = (args: unknown): { arguments?: Record<string, unknown> } =>
  args === undefined ? {} : { arguments: args as Record<string, unknown> };

function secondTransport({ running, url, headers }: Wire): Transport {
  if (url === undefined) return pipesOf(running);
  return new StreamableHTTPClientTransport(new URL(url), httpOptions(running.output, headers));
}

/** Both versions of the SDK have this interface, with different optional fields. */
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

/** The client's transport for a process that was already started and whose output is recorded. */
function pipesOf(running: Running): Transport {
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      running.output.follow('stdout', (bytes) => {
        buffer.append(bytes);
        readAll(buffer, transport);
      });
      void running.exited.then(() => transport.onclose?.());
    },
    async send(message) {
      running.stdin.write(serializeMessage(message));
    },
    async close() {
      await running.stop();
    },
  };
  return transport;
}

function readAll(buffer: ReadBuffer, transport: Transport): void {
  try {
    for (let message = buffer.readMessage(); message; message = buffer.readMessage()) {
      transport.onmessage?.(message);
    }
  } catch (error) {
    transport.onerror?.(error as Error);
    readAll(buffer, transport); // As the clients of the SDKs do.
  }
}

/** `fetch` that records the answer while it is read. */
const recordingFetch =
  (recording: Recording): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const head = [...response.headers].map(([name, value]) => `${name}: ${value}\n`).join('');
    recording.add('http', Buffer.from(`\n${response.status}\n${head}\n`));
    const retryable = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        recording.add('http', bytes);
        controller.enqueue(bytes);
      },
    });
    return new Response(response.body?.pipeThrough(retryable) ?? null, response);
  };
