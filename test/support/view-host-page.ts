/** The page of a host that shows views: the SDK's bridge, and an iframe that may only run scripts. */
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
import type { HostPage, Opening } from './view-host.ts';

declare global {
  interface Window {
    /** Answered by the test, which has the protocol client. */
    callTool(params: unknown): Promise<never>;
    said(params: unknown): Promise<void>;
    told(params: unknown): Promise<void>;
    opened(params: unknown): Promise<void>;
    saved(params: unknown): Promise<void>;
    host: HostPage;
  }
}

let bridge: AppBridge | undefined;

async function show({ html, tool, args, result, context, capabilities }: Opening): Promise<void> {
  document.querySelector('iframe')?.remove();
  const frame = document.createElement('iframe');
  frame.title = 'View';
  frame.setAttribute('sandbox', 'allow-scripts');
  document.body.append(frame);
  const inner = frame.contentWindow;
  if (!inner) throw new Error('no frame');
  bridge = new AppBridge(null, { name: 'test-host', version: '1' }, capabilities as never, {
    hostContext: { ...context, toolInfo: { tool } } as never,
  });
  bridge.oncalltool = (params) => window.callTool(params);
  bridge.onmessage = async (params) => {
    await window.said(params);
    return {};
  };
  bridge.onupdatemodelcontext = async (params) => {
    await window.told(params);
    return {};
  };
  bridge.onopenlink = async (params) => {
    await window.opened(params);
    return {};
  };
  bridge.ondownloadfile = async (params) => {
    await window.saved(params);
    return {};
  };
  bridge.onrequestdisplaymode = async ({ mode }) => ({ mode });
  bridge.onsizechange = ({ height }) => {
    if (height !== undefined) frame.style.height = `${height}px`;
  };
  const ready = new Promise<void>((resolve) => {
    if (bridge) bridge.oninitialized = () => resolve();
  });
  await bridge.connect(new PostMessageTransport(inner, inner));
  frame.srcdoc = html;
  await ready;
  await bridge.sendToolInput({ arguments: args });
  await bridge.sendToolResult(result as never);
}

window.host = {
  show,
  change: async (context) => {
    await bridge?.sendHostContextChange(context as never);
  },
  result: async (result) => {
    await bridge?.sendToolResult(result as never);
  },
};
