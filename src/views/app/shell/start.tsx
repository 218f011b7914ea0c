/** What all views share: the connection to the host, and the waiting, error, choice and answer states. */
import './style.css';
import type { McpUiHostContext } from '@modelcontextprotocol/ext-apps';
import { type ComponentType, render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import {
  type Arguments,
  Bridge,
  metaOf,
  type ReadTool,
  type ToolResult,
  textOf,
} from './bridge.ts';
import { type Candidate, Choices } from './choices.tsx';
import { FormatContext, formatsOf } from './format.ts';
import { applyContext, heightWithin } from './host.ts';
import { ActionButton, Failed } from './parts.tsx';
import type { ViewProps } from './view.ts';

type ViewState<Data> =
  | { state: 'waiting' }
  | { state: 'failed'; reason: string; again?: Arguments }
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
  /** Of what is shown. */
  args: Arguments = {};
  /** Of the latest request: a further choice is added to it, and no other answer is shown. */
  wanted: Arguments = {};
  /** Of a call of the host, until its result is there. */
  called: Arguments | undefined;
  context: McpUiHostContext = {};
  changed: () => void = () => {};
  readonly view: View<Data, Answer>;
  readonly bridge: Bridge;

  constructor(view: View<Data, Answer>) {
    this.view = view;
    this.bridge = new Bridge({
      input: (args) => {
        this.called = args;
      },
      result: (result) => void this.receive(result),
      cancelled: () => {
        // What is shown already came from a call that ended.
        this.called = undefined;
        if (this.shown.state === 'waiting')
          this.show({ state: 'failed', reason: 'The call was cancelled.' });
      },
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
    this.args = this.called ?? this.args;
    this.wanted = this.args;
    this.called = undefined;
    if (result.isError)
      return this.show({ state: 'failed', reason: textOf(result), again: this.args });
    if (result.structuredContent || !this.view.tool) return this.setData(result);
    await this.retry(this.args);
  }

  /** Reads, and shows why it failed with a button to try again. */
  async retry(again: Arguments): Promise<void> {
    await this.reload(again).catch((error: unknown) =>
      this.show({ state: 'failed', reason: messageOf(error), again }),
    );
  }

  async toggleFullScreen(): Promise<void> {
    const { displayMode } = this.context;
    const mode = await this.bridge.display(displayMode === 'fullscreen' ? 'inline' : 'fullscreen');
    this.apply({ displayMode: mode });
  }

  async reload(args: Arguments): Promise<void> {
    if (!this.view.tool) return;
    this.wanted = args;
    try {
      const structuredContent = await this.bridge.read(this.view.tool, args);
      if (this.wanted !== args) return;
      this.args = args;
      this.setData({ structuredContent });
    } catch (error) {
      if (this.wanted !== args) return;
      this.wanted = this.args;
      throw error;
    }
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
}

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
      {metaOf('made-up') === 'true' && <p class="made-up">Made-up data: nothing here is real.</p>}
      {shown.state === 'answer' && context.availableDisplayModes?.includes('fullscreen') && (
        <nav class="actions display" aria-label="Display">
          <ActionButton
            text={context.displayMode === 'fullscreen' ? 'Back to the conversation' : 'Full screen'}
            busyText="Changing…"
            run={() => session.toggleFullScreen()}
          />
        </nav>
      )}
      <Body session={session} shown={shown} />
    </FormatContext.Provider>
  );
}

type BodyProps<Data, Answer> = { session: Session<Data, Answer>; shown: ViewState<Data> };

function Body<Data, Answer>({ session, shown }: BodyProps<Data, Answer>) {
  const { view, args, bridge } = session;
  if (shown.state === 'waiting') {
    return (
      <p class="waiting" role="status">
        {view.waiting ?? 'Reading…'}
      </p>
    );
  }
  if (shown.state === 'choosing') {
    const choose = (id: string) => session.retry({ ...args, [shown.argument]: id });
    return <Choices {...shown} choose={bridge.canRead ? choose : undefined} />;
  }
  if (shown.state === 'answer') {
    const { Component } = view;
    const reload = (changed?: Arguments) => session.reload({ ...session.wanted, ...changed });
    return <Component data={shown.data} args={args} host={bridge} reload={reload} />;
  }
  const again = shown.state === 'failed' && view.tool && bridge.canRead ? shown.again : undefined;
  const retry = again && (() => session.retry(again));
  return (
    <main>
      <h1>{document.title}</h1>
      {shown.state === 'failed' ? (
        <Failed reason={shown.reason} retry={retry} />
      ) : (
        <p>{shown.summary}</p>
      )}
    </main>
  );
}

/** Mounts the view and connects to the host. */
export function startView<Data, Answer>(view: View<Data, Answer>): void {
  const root = document.getElementById('view');
  if (!root) return;
  const session = new Session(view);
  render(<Root session={session} />, root);
  followSize(session);
  session.connect().catch((error: unknown) => {
    session.show({ state: 'failed', reason: messageOf(error) });
  });
}

/** Reports the height of the view to the host, which decides the width; once for all that changes in a frame. */
function followSize(session: Pick<Session<never, never>, 'bridge' | 'context'>): void {
  let reported = 0;
  const report = () => {
    const whole = Math.ceil(document.body.getBoundingClientRect().height);
    const height = heightWithin(whole, session.context);
    if (height === undefined || height === reported) return;
    reported = height;
    session.bridge.resized(document.documentElement.clientWidth, height);
  };
  new ResizeObserver(() => requestAnimationFrame(report)).observe(document.body);
}
