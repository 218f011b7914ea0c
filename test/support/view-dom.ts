import { AppBridge } from '@modelcontextprotocol/ext-apps/app-bridge';
import { Window } from 'happy-dom';
import type { Connection, Row } from './hosts.ts';
import { closing } from './shared.ts';

type Transport = Parameters<AppBridge['connect']>[0];

export interface ViewInDom {
  /** What a person reads. */
  text(): string;
  /** Tools that the view called. */
  calls: { name: string; arguments?: Row | undefined }[];
  /** Delivers a message as if from this sender. */
  deliver(message: Row, sender: unknown): void;
  /** The sender that a view listens to. */
  host: unknown;
}

/**
 * A built view in a DOM without layout, with the SDK's host side and a real server.
 * @param change of the result that the host passes on, and of those of the view's own calls
 */
export async function openInDom(
  server: Connection,
  name: string,
  args: Row,
  change: (result: Row, isOwnCall: boolean) => Row = (result) => result,
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
  const parent = {
    postMessage: (message: unknown) =>
      void transport.onmessage?.(JSON.parse(JSON.stringify(message))),
  };
  Object.defineProperty(window, 'parent', { value: parent });
  const bridge = new AppBridge(
    null,
    { name: 'dom', version: '1' },
    { serverTools: {} },
    { hostContext: { locale: 'en-US', timeZone: 'UTC' } },
  );
  const calls: ViewInDom['calls'] = [];
  bridge.oncalltool = async (call) => {
    calls.push(call);
    const { result } = await server.ask(call.name, call.arguments);
    return change(result as Row, true) as never;
  };
  const initialized = new Promise<void>((resolve) => {
    bridge.oninitialized = () => resolve();
  });
  await bridge.connect(transport);
  window.document.write(html);
  await initialized;
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(change(result as Row, false) as never);
  const text = () =>
    [...window.document.body.children]
      .filter(({ tagName }) => tagName !== 'SCRIPT')
      .map(({ textContent }) => textContent)
      .join('');
  return { text, calls, deliver, host: parent };
}
