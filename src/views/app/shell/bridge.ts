/**
 * The connection from a view to its host: JSON-RPC over messages to the parent window (MCP Apps, 2026-01-26).
 * Hand-written, because the SDK's client would take three quarters of the size limit of a view.
 */
import type {
  McpUiHostCapabilities,
  McpUiHostContext,
  McpUiInitializeResult,
} from '@modelcontextprotocol/ext-apps';

export const protocolVersion = '2026-01-26';

/** The tools from which views read; by its type `read` calls no others. */
export const readTools = [
  'cpq_brief_pipeline',
  'cpq_pipeline_deals',
  'cpq_brief_quote',
  'cpq_brief_quotes',
  'cpq_brief_company',
  'cpq_check_sales_data',
  'cpq_pipeline_changes',
  'cpq_list_opportunities',
  'cpq_list_events',
  'cpq_get_record',
] as const;
export type ReadTool = (typeof readTools)[number];
/**
 * The others that a view calls: one asks a person about a change, in the host's form or in the view, and one takes the
 * answer of the view. Neither writes without it.
 */
export type ChangeTool = 'cpq_upsert_opportunity' | 'cpq_answer_change';
export type Arguments = Record<string, unknown>;

export interface ToolResult<Answer = Record<string, unknown>> {
  content?: { type: string; text?: string }[];
  structuredContent?: Answer;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}

/** Notifications from the host. */
export interface Listener {
  input(args: Arguments): void;
  result(result: ToolResult): void;
  cancelled(): void;
  context(context: McpUiHostContext): void;
}

interface Message {
  jsonrpc: '2.0';
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code?: number; message?: string };
}

interface PendingRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Requests and notifications, both ways. */
class Channel {
  readonly #pending = new Map<number, PendingRequest>();
  readonly #notified: (method: string, params: Record<string, unknown>) => void;
  #last = 0;

  constructor(notified: (method: string, params: Record<string, unknown>) => void) {
    this.#notified = notified;
    window.addEventListener('message', (event: MessageEvent<unknown>) => {
      // Accepts messages from the parent window only: other frames can post to this window too.
      if (event.source === window.parent && isMessage(event.data)) this.#receive(event.data);
    });
  }

  /** The answer has the type that the protocol, or the tool's output schema, declares for it. */
  request<Answer>(method: string, params: Record<string, unknown>): Promise<Answer> {
    this.#last += 1;
    const id = this.#last;
    this.#post({ id, method, params });
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  notify(method: string, params: Record<string, unknown>): void {
    this.#post({ method, params });
  }

  #post(message: Omit<Message, 'jsonrpc'>): void {
    // A sandboxed page cannot know the host's origin; a secret goes back to the window that it came from.
    window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');
  }

  #receive(message: Message): void {
    const { id, method, params = {} } = message;
    if (method === undefined) this.#settle(message);
    else if (id === undefined) this.#notified(method, params);
    else if (method === 'ping' || method === 'ui/resource-teardown') this.#post({ id, result: {} });
    else this.#post({ id, error: { code: -32601, message: 'Method not found' } });
  }

  #settle({ id, result, error }: Message): void {
    const waiting = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (!waiting || typeof id !== 'number') return;
    this.#pending.delete(id);
    if (error) waiting.reject(new Error(error.message ?? 'The host refused.'));
    else waiting.resolve(result ?? {});
  }
}

/** What a view can do through its host. */
export class Bridge {
  readonly #channel: Channel;
  #capabilities: McpUiHostCapabilities = {};

  constructor({ input, result, cancelled, context }: Listener) {
    const known: Record<string, (params: Record<string, unknown>) => void> = {
      'ui/notifications/tool-input': (params) => input((params.arguments ?? {}) as Arguments),
      'ui/notifications/tool-result': (params) => result(params as ToolResult),
      'ui/notifications/tool-cancelled': () => cancelled(),
      'ui/notifications/host-context-changed': (params) => context(params as McpUiHostContext),
    };
    this.#channel = new Channel((method, params) => {
      if (Object.hasOwn(known, method)) known[method]?.(params);
    });
  }

  /** Sends `ui/initialize`. @returns the host's context */
  async connect(name: string): Promise<McpUiHostContext> {
    const initialized = await this.#channel.request<McpUiInitializeResult>('ui/initialize', {
      protocolVersion,
      appInfo: { name: `cpq-mcp-${name}`, version: '1' },
      appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
    });
    this.#capabilities = initialized.hostCapabilities ?? {};
    this.#channel.notify('ui/notifications/initialized', {});
    return initialized.hostContext ?? {};
  }

  /** The host lets views call tools. */
  get canRead(): boolean {
    return this.can('serverTools');
  }

  can(name: keyof McpUiHostCapabilities): boolean {
    return this.#capabilities[name] !== undefined;
  }

  /** Whether the server lists this tool, which depends on its settings: it wrote the names into the page. */
  lists(name: ReadTool | ChangeTool): boolean {
    return metaOf('tools').split(' ').includes(name);
  }

  /**
   * Calls a read-only tool of this server.
   * @throws Error with the message of the tool or the host
   */
  async read<Answer extends object = Record<string, unknown>>(
    name: ReadTool,
    args: Arguments,
  ): Promise<Answer> {
    const result = await this.call<Answer>(name, args);
    if (result.isError) throw new Error(textOf(result) || 'The call was refused.');
    if (!result.structuredContent) throw new Error('The host did not pass on the data.');
    return result.structuredContent;
  }

  /** Calls a tool. The result may be an error of the tool. @throws Error of the host */
  call<Answer = Record<string, unknown>>(
    name: ReadTool | ChangeTool,
    args: Arguments,
  ): Promise<ToolResult<Answer>> {
    return this.#channel.request('tools/call', { name, arguments: args });
  }

  /** Tells the model what happened here, for its next turn. Never fails: a host may not pass it on. */
  async tell(text: string): Promise<void> {
    if (!this.can('updateModelContext')) return;
    const content = [{ type: 'text', text }];
    await this.#channel.request('ui/update-model-context', { content }).catch(() => {});
  }

  /** Adds a question to the conversation as a message of the person. @throws Error if the host did not */
  ask(text: string): Promise<void> {
    const message = { role: 'user', content: [{ type: 'text', text }] };
    return this.#demand('ui/message', message, 'The host did not accept the question.');
  }

  /** Has the host open a web page, an e-mail or a call. @throws Error if it did not, or if the link is to anything else */
  async open(url: string): Promise<void> {
    if (!isWebLink(url) && !/^(?:mailto|tel):[^\s<>"]+$/.test(url))
      throw new Error('This is not a link to a web page.');
    await this.#demand('ui/open-link', { url }, 'The host did not open the link.');
  }

  /** Has the host save a text as a file. @throws Error if it did not */
  save(name: string, mimeType: string, text: string): Promise<void> {
    const resource = { uri: `file:///${encodeURIComponent(name)}`, mimeType, text };
    const contents = [{ type: 'resource', resource }];
    return this.#demand('ui/download-file', { contents }, 'The host did not save the file.');
  }

  /** @returns the mode that the host chose */
  async display(mode: 'inline' | 'fullscreen'): Promise<'inline' | 'fullscreen'> {
    type Answer = { mode: typeof mode };
    const name = 'ui/request-display-mode';
    return (await this.#channel.request<Answer>(name, { mode })).mode;
  }

  resized(width: number, height: number): void {
    this.#channel.notify('ui/notifications/size-changed', { width, height });
  }

  async #demand(method: string, params: Record<string, unknown>, refused: string): Promise<void> {
    if ((await this.#channel.request<{ isError?: boolean }>(method, params)).isError)
      throw new Error(refused);
  }
}

/** What the server wrote into the page. */
export const metaOf = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

export const isWebLink = (link: string): boolean =>
  URL.canParse(link) && /^https?:$/.test(new URL(link).protocol);

export const textOf = ({ content = [] }: ToolResult<unknown>): string =>
  content.map(({ text }) => text ?? '').join('\n');

const isMessage = (data: unknown): data is Message =>
  typeof data === 'object' && data !== null && 'jsonrpc' in data && data.jsonrpc === '2.0';
