/**
 * A minimal host to preview the views with live tools: it calls a tool, shows the tool's view in a sandboxed
 * frame that may only run scripts, and answers the requests that a view may make.
 */
import './style.css';
import { messageOf } from '../../../values.ts';
import { type ChangeTool, protocolVersion, readTools } from '../shell/bridge.ts';

interface Example {
  title: string;
  tool: string;
  view: string;
  args?: object;
  /** An argument comes from this field of the first record of a list. */
  from?: readonly [argument: string, field: 'id' | 'company', tool: string, args: object];
}

const firstDeal = ['cpq_brief_pipeline', { deals_from: 0, rows: 1 }] as const;
const lastSent = [
  'cpq_list_quotes',
  { filters: 'status:sent', sort: '-created', size: 1 },
] as const;

const change = {
  probability: 0.35,
  onetime_revenue: 48_500,
  expected_close_date: '2027-01-29',
  description:
    'The customer asks for a second offer:\n- one visit a month\n- spare parts at both sites',
};

const examples: readonly Example[] = [
  { title: 'Pipeline', tool: 'cpq_brief_pipeline', view: 'pipeline' },
  { title: 'Changes', tool: 'cpq_pipeline_changes', view: 'changes', args: { rows: 100 } },
  { title: 'Quotes', tool: 'cpq_brief_quotes', view: 'quotes', args: { size: 100 } },
  { title: 'Quote', tool: 'cpq_brief_quote', view: 'quote', from: ['quote', 'id', ...lastSent] },
  {
    title: 'Company',
    tool: 'cpq_brief_company',
    view: 'company',
    from: ['company', 'company', ...firstDeal],
  },
  {
    title: 'Change',
    tool: 'cpq_upsert_opportunity',
    view: 'change',
    args: change,
    from: ['opportunity_id', 'id', ...firstDeal],
  },
];

/** The tools that the views call. The preview enforces it, too. */
const changeTools: readonly ChangeTool[] = ['cpq_upsert_opportunity', 'cpq_answer_change'];
const callable: readonly unknown[] = [...readTools, ...changeTools];

const revision = '2026-07-28';
/** What the preview says of itself with every request: it shows views, and has no forms. */
const about = {
  'io.modelcontextprotocol/protocolVersion': revision,
  'io.modelcontextprotocol/clientInfo': { name: 'preview', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {
    extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
  },
};

interface ToolResult {
  structuredContent?: { records?: { id?: string; company?: string }[] };
  tools?: { name: string }[];
}
interface Message {
  jsonrpc: '2.0';
  id?: number;
  method?: string;
  params?: {
    name?: string;
    arguments?: object;
    url?: string;
    height?: number;
    content?: { text?: string }[];
  };
}

let theme: 'light' | 'dark' = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
let width = '1000px';
let asked = 0;

const callTool = (params: CallParams): Promise<ToolResult> =>
  request('tools/call', params, { 'mcp-name': params.name ?? '' });

type CallParams = Pick<NonNullable<Message['params']>, 'name' | 'arguments'>;

/** @throws Error with the server's message */
async function request(method: string, params: object, more = {}): Promise<ToolResult> {
  asked += 1;
  const response = await fetch('/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      'mcp-method': method,
      ...more,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: asked,
      method,
      params: { ...params, _meta: about },
    }),
  });
  const text = await response.text();
  const line = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { result, error } = JSON.parse(line) as {
    result?: ToolResult;
    error?: { message: string };
  };
  if (!result) throw new Error(error?.message ?? `The server answered ${response.status}.`);
  return result;
}

class PreviewFrame {
  readonly #frame = document.createElement('iframe');
  readonly #example: Example;
  #args: Record<string, unknown> = {};

  constructor(example: Example) {
    this.#example = example;
    this.#frame.title = example.title;
    this.#frame.setAttribute('sandbox', 'allow-scripts allow-modals');
    this.#frame.src = `/preview/${example.view}.html`;
    this.#frame.style.maxWidth = width;
    stage.replaceChildren(this.#frame);
  }

  /** Accepts messages from the view's frame only. */
  accepts({ source, data }: MessageEvent<Message>): void {
    if (source === this.#frame.contentWindow && data?.jsonrpc === '2.0') void this.#take(data);
  }

  notify(method: string, params: object): void {
    this.#post({ jsonrpc: '2.0', method, params });
  }

  async #take({ id, method, params = {} }: Message): Promise<void> {
    if (method === 'ui/notifications/initialized') return this.#open();
    if (method === 'ui/notifications/size-changed' && params.height !== undefined) {
      this.#frame.style.height = `${params.height}px`;
    }
    if (id === undefined) return;
    try {
      this.#post({ jsonrpc: '2.0', id, result: await this.#answer(method, params) });
    } catch (error) {
      const message = messageOf(error);
      this.#post({ jsonrpc: '2.0', id, error: { code: -32000, message } });
    }
  }

  async #answer(method: string | undefined, params: NonNullable<Message['params']>) {
    if (method === 'tools/call' && callable.includes(params.name)) return callTool(params);
    if (method === 'ui/message' || method === 'ui/update-model-context') {
      messages.textContent = `Sent to the conversation: ${params.content?.[0]?.text ?? ''}`;
      return {};
    }
    if (method === 'ui/open-link') {
      window.open(params.url, '_blank', 'noopener');
      return {};
    }
    if (method !== 'ui/initialize') throw new Error('This host does not support that.');
    return {
      protocolVersion,
      hostInfo: { name: 'preview', version: '1' },
      hostCapabilities: {
        serverTools: {},
        openLinks: {},
        message: { text: {} },
        updateModelContext: { text: {} },
      },
      hostContext: { theme, locale: navigator.language },
    };
  }

  async #open(): Promise<void> {
    const { tool, from, args } = this.#example;
    this.#args = { ...args };
    if (from) {
      const [argument, field, name, list] = from;
      const { structuredContent } = await callTool({ name, arguments: list });
      this.#args[argument] = structuredContent?.records?.[0]?.[field];
    }
    this.notify('ui/notifications/tool-input', { arguments: this.#args });
    const result = await callTool({ name: tool, arguments: this.#args });
    this.notify('ui/notifications/tool-result', result);
  }

  #post(message: object): void {
    // A sandboxed page has an opaque origin, so there is no target origin to name.
    this.#frame.contentWindow?.postMessage(message, '*');
  }
}

function button(text: string, act: () => void): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = text;
  button.addEventListener('click', act);
  return button;
}

const stage = document.createElement('main');
const messages = document.createElement('p');
messages.setAttribute('role', 'status');
let current: PreviewFrame | undefined;

function changeTheme(): void {
  theme = theme === 'dark' ? 'light' : 'dark';
  document.documentElement.style.colorScheme = theme;
  current?.notify('ui/notifications/host-context-changed', { theme });
}

function changeWidth(): void {
  width = width === '1000px' ? '360px' : '1000px';
  const frame = stage.querySelector('iframe');
  if (frame) frame.style.maxWidth = width;
}

async function start(): Promise<void> {
  const { tools = [] } = await request('tools/list', {});
  const listed = new Set(tools.map(({ name }) => name));
  const bar = document.createElement('nav');
  bar.setAttribute('aria-label', 'Views');
  for (const example of examples.filter(({ tool }) => listed.has(tool))) {
    bar.append(
      button(example.title, () => {
        current = new PreviewFrame(example);
      }),
    );
  }
  bar.append(button('Light or dark', changeTheme), button('Wide or narrow', changeWidth));
  const title = document.createElement('h1');
  title.textContent = 'cpq-mcp views';
  document.getElementById('view')?.append(title, bar, messages, stage);
  document.documentElement.style.colorScheme = theme;
  window.addEventListener('message', (event: MessageEvent<Message>) => current?.accepts(event));
  const [first] = examples;
  if (first) current = new PreviewFrame(first);
}

void start();
