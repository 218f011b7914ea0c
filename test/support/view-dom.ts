import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';
import { type HTMLElement, Window } from 'happy-dom';
import type { Connection, Row } from './hosts.ts';
import { closing } from './shared.ts';
import { until } from './until.ts';

type Transport = Parameters<AppBridge['connect']>[0];

export interface Call {
  name: string;
  arguments?: Row | undefined;
}

export interface ViewInDom {
  /** What a person reads. */
  text(): string;
  /** Tools that the view called. */
  calls: Call[];
  /** What the view sent to the host. */
  sent: Row[];
  /** Chooses in a field by its label, once the field has the value; types into one without values. */
  choose(label: string, value: string): Promise<void>;
  /** Clicks the first button with this text. */
  click(text: string): void;
  find(selector: string): HTMLElement[];
  /** The host passes on another result. */
  result(result: Row): Promise<void>;
  /** The host announces that it removes the view. @returns whether the view agrees */
  remove(): Promise<boolean>;
  /** Delivers a message as if from this sender. */
  deliver(message: Row, sender: unknown): void;
  /** The sender that a view listens to. */
  host: unknown;
}

/**
 * A built view in a DOM without layout, with the SDK's host side and a real server.
 * @param change of the result that the host passes on, and of those of the view's own calls
 * @param capabilities of the host
 */
export async function openInDom(
  server: Connection,
  name: string,
  args: Row,
  change: (result: Row, own?: Call) => Row | Promise<Row> = (result) => result,
  capabilities: Row = {},
): Promise<ViewInDom> {
  const tool = (await server.tools()).find((it) => it.name === name);
  const { ui } = (tool?._meta ?? {}) as { ui?: { resourceUri?: string } };
  const served = await server.request('resources/read', { uri: ui?.resourceUri });
  const [{ text: html } = { text: '' }] =
    (served as { contents?: { text: string }[] }).contents ?? [];
  const { result } = await server.call(name, args);
  const window = new Window({
    url: 'http://view.test/',
    settings: {
      enableJavaScriptEvaluation: true,
      suppressInsecureJavaScriptEnvironmentWarning: true,
    },
  });
  closing({ close: () => window.happyDOM.close() });
  const deliver = (data: Row, source: unknown) =>
    void window.dispatchEvent(new window.MessageEvent('message', { data, source } as object));
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => deliver(structuredClone(message) as unknown as Row, parent),
  };
  const sent: Row[] = [];
  const parent = {
    postMessage: (message: Row) => {
      sent.push(message);
      transport.onmessage?.(JSON.parse(JSON.stringify(message)));
    },
  };
  Object.defineProperty(window, 'parent', { value: parent });
  const bridge = new AppBridge(
    null,
    { name: 'dom', version: '1' },
    { serverTools: {}, ...capabilities },
    { hostContext: { locale: 'en-US', timeZone: 'UTC' } },
  );
  const calls: ViewInDom['calls'] = [];
  bridge.oncalltool = async (call) => {
    calls.push(call);
    const { result } = await server.ask(call.name, call.arguments);
    return (await change(result as Row, call)) as never;
  };
  const initialized = new Promise<void>((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  await bridge.connect(transport);
  window.document.write(html);
  await initialized;
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult((await change(result as Row)) as never);
  const text = () =>
    [...window.document.body.children]
      .filter(({ tagName }) => tagName !== 'SCRIPT')
      .map(({ textContent }) => textContent)
      .join('');
  const send = (it: Row) => bridge.sendToolResult(it as never);
  const remove = () =>
    bridge.teardownResource({}).then(
      () => true,
      () => false,
    );
  return { text, calls, sent, deliver, host: parent, result: send, remove, ...handsIn(window) };
}

/** What a person does in the page. */
function handsIn(window: Window): Pick<ViewInDom, 'find' | 'choose' | 'click'> {
  const find = (selector: string) =>
    [...window.document.querySelectorAll(selector)] as HTMLElement[];
  const choose = async (label: string, value: string) => {
    const field = () =>
      find('label.field').find(({ textContent }) => textContent.startsWith(label));
    await until(() => field()?.innerHTML).toMatch(
      new RegExp(`<input|["\\w]>${value}<|value="${value}"`),
    );
    const input = field()?.querySelector('select, input') as HTMLElement & { value: string };
    input.value = value;
    for (const type of ['input', 'change'])
      input.dispatchEvent(new window.Event(type, { bubbles: true }));
  };
  const click = (name: string) => {
    const button = find('button').find(({ textContent }) => textContent === name);
    if (!button) throw new Error(`There is no button ${name}.`);
    button.click();
  };
  return { find, choose, click };
}
