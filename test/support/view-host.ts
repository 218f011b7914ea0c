import { fileURLToPath } from 'node:url';
import type { Tool } from '@modelcontextprotocol/client';
import { build } from 'esbuild';
import { type Browser, chromium, type Frame, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { Connection, Row } from './hosts.ts';
import { closing, shared, useMachineClock } from './shared.ts';

/** What the page displays. */
export interface Opening {
  html: string;
  tool: Tool;
  args: Row;
  result: unknown;
  context: Row;
  capabilities: Row;
}

export interface HostPage {
  show(opening: Opening): Promise<void>;
  /** Sends the view a new host context. */
  change(context: Row): Promise<void>;
  result(result: unknown): Promise<void>;
}

interface ToolCallOfView {
  name: string;
  arguments?: Row;
}

/** A view in a real browser, with a real bridge and a real server. */
export interface OpenedView<Data = unknown> {
  page: Page;
  /** The view's own document. */
  frame: Frame;
  /** The structured content of the tool's answer. */
  data: Data;
  /** Tools that the view called. */
  calls: ToolCallOfView[];
  /** Messages that it added to the conversation. */
  said: string[];
  /** What it told the model. */
  told: string[];
  /** Links that it asked the host to open. */
  opened: string[];
  /** Files that it asked the host to save. */
  saved: string[];
  /** Requested addresses, except the host's own page. */
  requests: string[];
  /** Errors of the page, and violations of its content security policy. */
  errors: string[];
}

export interface Options {
  width?: number;
  /** What the person set in the browser or the system. */
  media?: { forcedColors?: 'active'; reducedMotion?: 'reduce'; deviceScaleFactor?: number };
  context?: Row;
  capabilities?: Row;
  /** Replaces the tool's result. */
  result?: (result: unknown) => unknown;
  /** Replaces the result of a call of the view. */
  answer?: (result: unknown, call: ToolCallOfView) => unknown;
}

// Questions expire in Chromium by its clock.
useMachineClock();

const hostAddress = 'http://view-host.test/';
const root = fileURLToPath(new URL('../../', import.meta.url));

const pageScript = shared(async () => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['test/support/view-host-page.ts'],
    bundle: true,
    format: 'iife',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
});

const browser = shared(async (): Promise<Browser> => {
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--force-color-profile=srgb'];
  return closing(await chromium.launch({ executablePath: '/usr/bin/chromium', args }));
});

const pageHtml = (script: string): string =>
  `<!doctype html><html lang="en"><title>Host</title><style>body{margin:0}iframe{display:block;border:0;width:100%;height:300px}</style><body><script>${script.replaceAll('</script', '<\\/script')}</script>`;

export async function newPage(width = 1000, media: Options['media'] = {}): Promise<Page> {
  const context = await (await browser()).newContext({
    viewport: { width, height: 900 },
    deviceScaleFactor: 1.5,
    // The host's theme decides, not that of the browser.
    colorScheme: 'light',
    locale: 'en-US',
    ...media,
  });
  return context.newPage();
}

/** Of a host that lets views do all that they can. */
export const everyCapability = {
  ...{ serverTools: {}, message: { text: {} }, updateModelContext: { text: {} } },
  ...{ openLinks: {}, downloadFile: {} },
};

/** What a view needs of a server. */
export type ViewServer = Pick<Connection, 'tools' | 'call' | 'ask' | 'request'>;

/** Opens the view that the tool's listing refers to, as a host does; closed when the test has finished. */
export async function openView(
  server: ViewServer,
  name: string,
  args: Row,
  options: Options = {},
): Promise<OpenedView<Row>> {
  const {
    width,
    media,
    context = {},
    capabilities = { serverTools: {}, message: { text: {} } },
  } = options;
  const tool = (await server.tools()).find((it) => it.name === name);
  if (!tool) throw new Error(`${name} is not listed`);
  const [html, answer] = await Promise.all([viewOf(server, tool), server.call(name, args)]);
  const page = await newPage(width, media);
  onTestFinished(() => page.context().close());
  const shown = await watch(page, server, options);
  await page.goto(hostAddress);
  const result = options.result ? options.result(answer.result) : answer.result;
  const opening = { html, tool, args, result, capabilities };
  const told = { theme: 'light', locale: 'en-US', timeZone: 'UTC', ...context };
  await page.evaluate((it) => window.host.show(it), { ...opening, context: told } as never);
  const frame = page.frames().find((it) => it !== page.mainFrame());
  if (!frame) throw new Error('the view has no frame');
  await frame.waitForSelector('#view > *:not(.waiting)');
  return { ...shown, page, frame, data: answer.data };
}

/** The page that the tool's listing refers to. */
async function viewOf(server: ViewServer, { _meta }: Tool): Promise<string> {
  const { ui } = (_meta ?? {}) as { ui?: { resourceUri?: string } };
  const { contents } = (await server.request('resources/read', { uri: ui?.resourceUri })) as {
    contents?: { text?: string; mimeType?: string }[];
  };
  const [content] = contents ?? [];
  if (content?.mimeType !== 'text/html;profile=mcp-app') throw new Error('it is no view');
  return content.text ?? '';
}

async function watch(page: Page, server: ViewServer, { answer = (it) => it }: Options) {
  const seen = {
    calls: [] as ToolCallOfView[],
    said: [] as string[],
    told: [] as string[],
    opened: [] as string[],
    saved: [] as string[],
    requests: [] as string[],
    errors: [] as string[],
  };
  page.on('pageerror', (error) => seen.errors.push(error.message));
  page.on('console', (line) => {
    if (line.type() === 'error') seen.errors.push(line.text());
  });
  page.on('request', (request) => seen.requests.push(request.url()));
  const body = pageHtml(await pageScript());
  await page.route('**/*', (route) =>
    route.request().url() === hostAddress
      ? route.fulfill({ body, contentType: 'text/html' })
      : route.abort(),
  );
  await page.exposeFunction('callTool', async (call: ToolCallOfView) => {
    seen.calls.push(call);
    return answer((await server.ask(call.name, call.arguments)).result, call);
  });
  const textsInto = (list: string[]) => async (message: { content?: { text?: string }[] }) => {
    list.push((message.content ?? []).map(({ text }) => text ?? '').join('\n'));
  };
  await page.exposeFunction('said', textsInto(seen.said));
  await page.exposeFunction('told', textsInto(seen.told));
  await page.exposeFunction('opened', async ({ url }: { url: string }) => {
    seen.opened.push(url);
  });
  await page.exposeFunction(
    'saved',
    async (file: { contents: { resource: { text: string } }[] }) => {
      seen.saved.push(...file.contents.map(({ resource }) => resource.text));
    },
  );
  return seen;
}
