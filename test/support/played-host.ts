import type { Transport } from '@modelcontextprotocol/client';
import { answerOf, passAnswer } from '../../src/hosts/http.ts';
import { clientOf } from '../../src/mcp/client.ts';
import { legacyRevisions, metaKeys, modernRevision } from '../../src/mcp/identity.ts';
import { createSession, sessionHeader } from '../../src/mcp/session.ts';
import type { Writer } from './consent.ts';
import type { Row } from './hosts.ts';
import { messagesOf } from './message-stream.ts';
import { closing } from './shared.ts';

/** A recorded host: what it declares, and what becomes of answers and questions. */
export interface Profile {
  name: string;
  client: { name: string; version: string };
  capabilities: Row;
  eras: readonly Era[];
  transports: readonly Way[];
  /** What its model is shown of a result. */
  shows: 'both' | 'structured' | 'text';
  /** It removes `_meta` from results: its views get no secret. */
  stripsMeta?: true;
  /** The best way that a person can agree. */
  best: 'form' | 'view' | 'nothing';
}

type Era = 'modern' | 'legacy';
type Way = 'pipe' | 'http';

const views = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};
const bothEras = ['modern', 'legacy'] as const;
const bothWays = ['pipe', 'http'] as const;
const everywhere = { eras: bothEras, transports: bothWays };

/** As reported publicly up to November 2026. */
const profiles: readonly Profile[] = [
  {
    name: 'Claude web and Desktop',
    client: { name: 'claude-ai', version: '0.1.0' },
    capabilities: views,
    ...everywhere,
    shows: 'both',
    best: 'view',
  },
  {
    name: 'Claude Code',
    client: { name: 'claude-code', version: '2.1.80' },
    capabilities: { elicitation: { form: {}, url: {} }, roots: {} },
    ...everywhere,
    shows: 'structured',
    best: 'form',
  },
  {
    name: 'VS Code',
    client: { name: 'Visual Studio Code', version: '1.116.0' },
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, ...views },
    ...everywhere,
    shows: 'both',
    best: 'form',
  },
  {
    name: 'Cursor',
    client: { name: 'cursor-vscode', version: '3.2.0' },
    capabilities: { elicitation: {}, ...views },
    ...everywhere,
    shows: 'text',
    stripsMeta: true,
    best: 'form',
  },
  {
    name: 'ChatGPT',
    client: { name: 'openai-mcp', version: '1.0.0' },
    capabilities: { elicitation: { form: {} }, ...views },
    ...everywhere,
    shows: 'both',
    best: 'form',
  },
  {
    name: 'Codex',
    client: { name: 'codex-mcp-client', version: '0.120.0' },
    capabilities: { elicitation: { form: {} } },
    ...everywhere,
    shows: 'structured',
    best: 'form',
  },
  {
    name: 'Gemini CLI',
    client: { name: 'gemini-cli-mcp-client', version: '0.30.0' },
    capabilities: { roots: { listChanged: true } },
    ...everywhere,
    shows: 'text',
    best: 'nothing',
  },
  {
    name: 'Goose',
    client: { name: 'goose', version: '1.40.0' },
    capabilities: { elicitation: {} },
    eras: ['legacy'],
    transports: bothWays,
    shows: 'both',
    best: 'form',
  },
];

/** Each of them in every era and transport that it has. */
export const playedHosts = profiles.flatMap((profile) =>
  profile.eras.flatMap((era) =>
    profile.transports.map((way) => {
      const title = `${profile.name}, ${era}, ${way}`;
      return { title, profile, era, way };
    }),
  ),
);

/** What a host answers a question: a result, an error, or nothing. Two are sent one after the other. */
export interface Reply {
  result?: unknown;
  error?: { code: number; message: string };
}
export const answers = {
  agrees: [{ result: { action: 'accept', content: { agree: true } } }],
  declines: [{ result: { action: 'decline' } }],
  'accepts with content null': [{ result: { action: 'accept', content: null } }],
  'accepts without content': [{ result: { action: 'accept' } }],
  'accepts an empty form': [{ result: { action: 'accept', content: {} } }],
  'accepts without the tick': [{ result: { action: 'accept', content: { agree: false } } }],
  'has no action': [{ result: { content: { agree: true } } }],
  'does not know the method': [{ error: { code: -32601, message: 'Method not found' } }],
  cancels: [{ result: { action: 'cancel' } }],
  'is silent': [],
  'declines, then agrees': [
    { result: { action: 'decline' } },
    { result: { action: 'accept', content: { agree: true } } },
  ],
} satisfies Record<string, readonly Reply[]>;

/** Sends a message. @returns what the server sends until it has answered */
type Send = (message: Row) => Promise<void>;

/** A host that no client of an SDK plays: it answers questions as no SDK would. */
export class PlayedHost {
  readonly profile: Profile;
  readonly era: Era;
  /** The questions that it was asked. */
  readonly asked: Row[] = [];
  replies: readonly Reply[] = [];
  #id = 0;
  #send: Send = async () => {};
  readonly #waiting = new Map<unknown, (message: Row) => void>();

  private constructor(profile: Profile, era: Era) {
    this.profile = profile;
    this.era = era;
  }

  static async connect(
    writer: Pick<Writer, 'pipe' | 'fetch' | 'tenant'>,
    profile: Profile,
    era: Era,
    way: Way,
  ): Promise<PlayedHost> {
    const host = new PlayedHost(profile, era);
    host.#send =
      way === 'pipe' ? await host.#overPipe(writer.pipe()) : await host.#overHttp(writer);
    const { client: clientInfo, capabilities } = profile;
    if (era === 'modern') {
      await host.request('server/discover', {});
    } else {
      const protocolVersion = legacyRevisions[0];
      await host.request('initialize', { protocolVersion, clientInfo, capabilities });
      await host.#send({ method: 'notifications/initialized' });
    }
    return host;
  }

  /** Calls a tool; a question on the way is answered by `replies`. @returns the last result, or an error as a message */
  async call(name: string, args: Row): Promise<Row> {
    const params = { name, arguments: args };
    const result = await this.request('tools/call', params);
    if (result.resultType !== 'input_required') return this.#received(result);
    const { requestState, inputRequests } = result as { requestState: string; inputRequests: Row };
    this.asked.push({ requestState, inputRequests });
    let last = result;
    for (const { result: answer } of this.replies) {
      const inputResponses = { consent: answer ?? {} };
      last = await this.request('tools/call', { ...params, requestState, inputResponses });
    }
    return this.#received(last);
  }

  request(method: string, params: Row): Promise<Row> {
    this.#id += 1;
    const id = this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => resolve((result ?? { error }) as Row));
      this.#send({ id, method, params: { ...params, ...this.#meta() } }).catch(reject);
    });
  }

  /** Every byte that its model is shown of a result. */
  shown(result: Row): string {
    const { content, structuredContent, isError, error } = result;
    const { shows } = this.profile;
    const isStructured = shows === 'structured' && structuredContent !== undefined && !isError;
    if (isStructured) return JSON.stringify(structuredContent);
    return JSON.stringify(
      shows === 'both' ? { content, structuredContent, error } : { content, error },
    );
  }

  #received(result: Row): Row {
    if (!this.profile.stripsMeta) return result;
    const { _meta, ...others } = result;
    return others;
  }

  #meta(): Row {
    if (this.era === 'legacy') return {};
    const { client, capabilities } = this.profile;
    const meta = {
      [metaKeys.revision]: modernRevision,
      [metaKeys.client]: client,
      [metaKeys.capabilities]: capabilities,
    };
    return { _meta: meta };
  }

  async #receive(message: Row): Promise<void> {
    const { id, method } = message;
    if (method === undefined) return this.#waiting.get(id)?.(message);
    if (id === undefined) return;
    this.asked.push(message);
    for (const reply of this.replies) await this.#send({ id, ...reply });
  }

  async #overPipe(transport: Transport): Promise<Send> {
    transport.onmessage = (message) => void this.#receive(message as unknown as Row);
    await transport.start();
    closing(transport);
    return (message) => transport.send({ jsonrpc: '2.0', ...message } as never);
  }

  async #overHttp({ fetch, tenant }: Pick<Writer, 'fetch' | 'tenant'>): Promise<Send> {
    const { client: clientInfo, capabilities } = this.profile;
    const session =
      this.era === 'legacy' &&
      (await createSession(tenant.writes.tokens, { clientInfo, capabilities }));
    return async (message) => {
      const { method, params } = message as { method?: string; params?: Row };
      const client = clientOf(clientInfo, capabilities);
      const given = answerOf(client, message);
      if (given) return passAnswer(tenant, given, undefined);
      const isModern = this.era === 'modern';
      const modern = { 'mcp-method': String(method), 'mcp-name': String(params?.name ?? '') };
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(isModern ? { 'mcp-protocol-version': modernRevision, ...modern } : {}),
        ...(session && method !== 'initialize' && { [sessionHeader]: session }),
      };
      const body = JSON.stringify({ jsonrpc: '2.0', ...message });
      const url = 'http://127.0.0.1/mcp';
      const answer = await fetch(new Request(url, { method: 'POST', headers, body }));
      for await (const received of messagesOf(answer)) await this.#receive(received);
    };
  }
}
