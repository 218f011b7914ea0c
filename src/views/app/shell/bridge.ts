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

/** The tools from which views read; `read` calls no others. */
export const readTools = [
  'cpq_brief_pipeline',
  'cpq_brief_quote',
  'cpq_brief_company',
  'cpq_pipeline_changes',
  'cpq_list_opportunities',
  'cpq_list_events',
  'cpq_get_record',
] as const;
export type ReadTool = (typeof readTools)[number];
/** The one other tool that a view calls: it takes the person's answer to a change. */
export type AnswerTool = 'cpq_answer_change';
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
  error?: { message?: string };
}

interface PendingRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export class Bridge {
  capabilities: McpUiHostCapabilities = {};
  readonly #listener: Listener;
  readonly #pending = new Map<number, PendingRequest>();
  #last = 0;

  constructor(listener: Listener) {
    this.#listener = listener;
    window.addEventListener('message', (event: MessageEvent<unknown>) => {
      // Accepts messages from the parent window only: other frames can post to this window too.
      if (event.source === window.parent && isMessage(event.data)) this.#receive(event.data);
    });
  }

  /** Sends `ui/initialize`. @returns the host's context */
  async connect(name: string): Promise<McpUiHostContext> {
    const initialized = await this.#request<McpUiInitializeResult>('ui/initialize', {
      protocolVersion,
      appInfo: { name: `cpq-mcp-${name}`, version: '1' },
      appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
    });
    this.capabilities = initialized.hostCapabilities ?? {};
    this.#notify('ui/notifications/initialized', {});
    return initialized.hostContext ?? {};
  }

  /**
   * Calls a read-only tool of this server.
   * @throws Error with the message of the tool or the host
   */
  async read<Answer extends object = Record<string, unknown>>(
    name: ReadTool,
    args: Arguments,
  ): Promise<Answer> {
    if (!readTools.includes(name)) throw new Error(`Views may not call ${String(name)}.`);
    const result = await this.call<Answer>(name, args);
    if (result.isError) throw new Error(textOf(result) || 'The call was refused.');
    if (!result.structuredContent) throw new Error('The host did not pass on the data.');
    return result.structuredContent;
  }

  /** Calls a tool. The result may be an error of the tool. @throws Error of the host */
  call<Answer>(name: ReadTool | AnswerTool, args: Arguments): Promise<ToolResult<Answer>> {
    return this.#request('tools/call', { name, arguments: args });
  }

  /** Tells the model what happened here, for its next turn, where the host passes that on. */
  async tell(text: string): Promise<void> {
    if (this.capabilities.updateModelContext === undefined) return;
    await this.#request('ui/update-model-context', { content: [{ type: 'text', text }] });
  }

  /** Adds a question to the conversation as a message of the person. */
  async ask(text: string): Promise<void> {
    const message = { role: 'user', content: [{ type: 'text', text }] };
    const result = await this.#request<{ isError?: boolean }>('ui/message', message);
    if (result.isError) throw new Error('The host did not accept the question.');
  }

  /** Has the host open a web page. @throws Error if it did not, or if the link is to anything else */
  async open(url: string): Promise<void> {
    if (!isWebLink(url)) throw new Error('This is not a link to a web page.');
    const result = await this.#request<{ isError?: boolean }>('ui/open-link', { url });
    if (result.isError) throw new Error('The host did not open the link.');
  }

  resized(width: number, height: number): void {
    this.#notify('ui/notifications/size-changed', { width, height });
  }

  /** The answer has the type that the protocol, or the tool's output schema, declares for it. */
  #request<Answer>(method: string, params: Record<string, unknown>): Promise<Answer> {
    this.#last += 1;
    const id = this.#last;
    this.#post({ jsonrpc: '2.0', id, method, params });
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  #notify(method: string, params: Record<string, unknown>): void {
    this.#post({ jsonrpc: '2.0', method, params });
  }

  #post(message: Message): void {
    // A sandboxed page cannot know the host's origin; a secret goes back to the window that it came from.
    window.parent.postMessage(message, '*');
  }

  #receive(message: Message): void {
    const { id, method, params = {} } = message;
    if (method === undefined) this.#settle(message);
    else if (id === undefined) this.#notified(method, params);
    else this.#answer(id, method);
  }

  #notified(method: string, params: Record<string, unknown>): void {
    const { input, result, cancelled, context } = this.#listener;
    const known: Record<string, () => void> = {
      'ui/notifications/tool-input': () => input((params.arguments ?? {}) as Arguments),
      'ui/notifications/tool-result': () => result(params as ToolResult),
      'ui/notifications/tool-cancelled': () => cancelled(),
      'ui/notifications/host-context-changed': () => context(params as McpUiHostContext),
    };
    if (Object.hasOwn(known, method)) known[method]?.();
  }

  #settle({ id, result, error }: Message): void {
    const waiting = typeof id === 'number' ? this.#pending.get(id) : undefined;
    if (!waiting || typeof id !== 'number') return;
    this.#pending.delete(id);
    if (error) waiting.reject(new Error(error.message ?? 'The host refused.'));
    else waiting.resolve(result ?? {});
  }

  /** Answers the host's `ping` and `ui/resource-teardown` requests. */
  #answer(id: number | string, method: string): void {
    const known = method === 'ping' || method === 'ui/resource-teardown';
    if (known) window.parent.postMessage({ jsonrpc: '2.0', id, result: {} }, '*');
    else {
      const error = { code: -32601, message: 'Method not found' };
      window.parent.postMessage({ jsonrpc: '2.0', id, error }, '*');
    }
  }
}

export const isWebLink = (link: string): boolean =>
  URL.canParse(link) && /^https?:$/.test(new URL(link).protocol);

export const textOf = ({ content = [] }: ToolResult<unknown>): string =>
  content.map(({ text }) => text ?? '').join('\n');

const isMessage = (data: unknown): data is Message =>
  typeof data === 'object' && data !== null && 'jsonrpc' in data && data.jsonrpc === '2.0';
