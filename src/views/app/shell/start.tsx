/** What all views share: the connection to the host, and the waiting, error, choice and answer states. */
import './style.css';
import type { McpUiHostContext } from '@modelcontextprotocol/ext-apps';
import { type ComponentType, render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import {
  type AnswerTool,
  type Arguments,
  Bridge,
  type ReadTool,
  type ToolResult,
  textOf,
} from './bridge.ts';
import { type Candidate, Choices } from './choices.tsx';
import { FormatContext, formatsOf } from './format.ts';
import { applyContext } from './host.ts';

export interface Host {
  /** The host lets views call tools. */
  canRead: boolean;
  /** The host takes messages into the conversation. */
  canAsk: boolean;
  /** Whether the server lists this tool, which depends on its settings. */
  lists(name: ReadTool): boolean;
  read<Answer extends object = Record<string, unknown>>(
    name: ReadTool,
    args: Arguments,
  ): Promise<Answer>;
  call(name: AnswerTool, args: Arguments): Promise<ToolResult>;
  /** Tells the model what happened here. Never fails: a host may not pass it on. */
  tell(text: string): Promise<void>;
  ask(text: string): Promise<void>;
  /** The host opens links in a browser. */
  canOpen: boolean;
  open(link: string): Promise<void>;
}

export interface ViewProps<Data> {
  data: Data;
  /** The arguments of the tool call. */
  args: Arguments;
  host: Host;
  /** Calls the view's own tool again and shows the answer. */
  reload(args?: Arguments): Promise<void>;
}

type ViewState<Data> =
  | { state: 'waiting' }
  | { state: 'failed'; reason: string }
  | { state: 'choosing'; summary: string; candidates: Candidate[]; argument: string }
  | { state: 'summary'; summary: string }
  | { state: 'answer'; data: Data };

export interface View<Data, Answer> {
  name: string;
  /** Called again for what the host did not pass on; a view of a change calls none. */
  tool?: ReadTool;
  /** Shown until there is a result. */
  waiting?: string;
  /** The argument that names the record, for tools about one record. */
  about?: string;
  /** Whether an answer has the data of this view. */
  is(data: Record<string, unknown>): boolean;
  /** What the view keeps of an answer. */
  prepare(answer: Answer, result: ToolResult): Data;
  /** The currency that is shown first. */
  mainCurrency(data: Data): string | undefined;
  Component: ComponentType<ViewProps<Data>>;
}

class Session<Data, Answer> {
  shown: ViewState<Data> = { state: 'waiting' };
  args: Arguments = {};
  context: McpUiHostContext = {};
  changed: () => void = () => {};
  readonly view: View<Data, Answer>;
  readonly bridge: Bridge;

  constructor(view: View<Data, Answer>) {
    this.view = view;
    this.bridge = new Bridge({
      input: (args) => {
        this.args = args;
        this.changed();
      },
      result: (result) => void this.receive(result),
      cancelled: () => this.show({ state: 'failed', reason: 'The call was cancelled.' }),
      context: (context) => this.apply(context),
    });
  }

  async connect(): Promise<void> {
    this.apply(await this.bridge.connect(this.view.name));
  }

  apply(context: McpUiHostContext): void {
    this.context = { ...this.context, ...context };
    applyContext(context);
    this.changed();
  }

  show(shown: ViewState<Data>): void {
    this.shown = shown;
    this.changed();
  }

  /** Some hosts pass on only the text of a result; then the view calls the tool itself. */
  async receive(result: ToolResult): Promise<void> {
    if (result.isError) return this.show({ state: 'failed', reason: textOf(result) });
    if (result.structuredContent || !this.view.tool) return this.setData(result);
    await this.reload(this.args).catch((error: unknown) =>
      this.show({ state: 'failed', reason: messageOf(error) }),
    );
  }

  async reload(args: Arguments): Promise<void> {
    if (!this.view.tool) return;
    const structuredContent = await this.bridge.read(this.view.tool, args);
    this.args = args;
    this.setData({ structuredContent });
  }

  setData(result: ToolResult): void {
    const data = result.structuredContent ?? {};
    const summary = String(data.summary ?? '');
    // A filter that several fit is asked about like a record that several match.
    const argument = typeof data.filter === 'string' ? data.filter : this.view.about;
    if (this.view.is(data))
      this.show({ state: 'answer', data: this.view.prepare(data as Answer, result) });
    else if (argument === undefined) this.show({ state: 'summary', summary });
    else {
      const candidates = (data.records ?? []) as Candidate[];
      this.show({ state: 'choosing', summary, candidates, argument });
    }
  }

  host(): Host {
    const { capabilities } = this.bridge;
    return {
      canRead: capabilities.serverTools !== undefined,
      canAsk: capabilities.message !== undefined,
      lists: (name) => listedTools().includes(name),
      read: (name, args) => this.bridge.read(name, args),
      call: (name, args) => this.bridge.call(name, args),
      tell: (text) => this.bridge.tell(text).catch(() => {}),
      ask: (text) => this.bridge.ask(text),
      canOpen: capabilities.openLinks !== undefined,
      open: (link) => this.bridge.open(link),
    };
  }
}

/** The names of the listed tools, which the server wrote into the page. */
const listedTools = (): readonly string[] =>
  document.querySelector<HTMLMetaElement>('meta[name="tools"]')?.content.split(' ') ?? [];

/** Whether the server wrote into the page that its tenant is the embedded one. */
const isMadeUp = (): boolean =>
  document.querySelector<HTMLMetaElement>('meta[name="made-up"]')?.content === 'true';

function Root<Data, Answer>({ session }: { session: Session<Data, Answer> }) {
  const [, redraw] = useState(0);
  useEffect(() => {
    session.changed = () => redraw((count) => count + 1);
    session.changed();
  }, [session]);
  const { shown, view, context } = session;
  const { locale, timeZone } = context;
  const currency = shown.state === 'answer' ? view.mainCurrency(shown.data) : undefined;
  const formats = useMemo(
    () => formatsOf(locale, timeZone, currency),
    [locale, timeZone, currency],
  );
  return (
    <FormatContext.Provider value={formats}>
      {isMadeUp() && <p class="made-up">Made-up data: nothing here is real.</p>}
      <Body session={session} shown={shown} />
    </FormatContext.Provider>
  );
}

interface BodyProps<Data, Answer> {
  session: Session<Data, Answer>;
  shown: ViewState<Data>;
}

function Body<Data, Answer>({ session, shown }: BodyProps<Data, Answer>) {
  const { view, args } = session;
  if (shown.state === 'waiting') {
    return (
      <p class="waiting" role="status">
        {view.waiting ?? 'Reading…'}
      </p>
    );
  }
  if (shown.state === 'failed') {
    return (
      <p class="failed" role="alert">
        {shown.reason}
      </p>
    );
  }
  if (shown.state === 'summary') return <p>{shown.summary}</p>;
  if (shown.state === 'choosing') {
    const choose = (id: string) =>
      session
        .reload({ ...args, [shown.argument]: id })
        .catch((error: unknown) => session.show({ state: 'failed', reason: messageOf(error) }));
    return <Choices {...shown} choose={choose} />;
  }
  const { Component } = view;
  const reload = (changed?: Arguments) => session.reload({ ...args, ...changed });
  return <Component data={shown.data} args={args} host={session.host()} reload={reload} />;
}

/** Mounts the view and connects to the host. */
export function startView<Data, Answer>(view: View<Data, Answer>): void {
  const root = document.getElementById('view');
  if (!root) return;
  const session = new Session(view);
  render(<Root session={session} />, root);
  followSize(session.bridge);
  session.connect().catch((error: unknown) => {
    session.show({ state: 'failed', reason: messageOf(error) });
  });
}

/** Reports the height of the view to the host, which decides the width. */
function followSize(bridge: Bridge): void {
  let reported = 0;
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    if (height === reported) return;
    reported = height;
    bridge.resized(document.documentElement.clientWidth, height);
  });
  observer.observe(document.body);
}
