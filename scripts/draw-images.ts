/**
 * Draws the icon, and the pictures of the views in the documents from the embedded tenant, with Chromium (`CHROMIUM` is its path).
 * Chromium renders differently from machine to machine, so a test compares the hash of the sources instead of pictures.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { chromium, type Frame, type Page } from 'playwright-core';

type ViewName = 'pipeline' | 'changes' | 'quote' | 'quotes' | 'company' | 'change';

interface Look {
  name: string;
  width: number;
  colorScheme: 'light' | 'dark';
}

const looks: readonly Look[] = [
  { name: 'light', width: 1160, colorScheme: 'light' },
  { name: 'dark', width: 1160, colorScheme: 'dark' },
  { name: 'narrow', width: 360, colorScheme: 'light' },
];

/** What is there once a view has read everything. */
const lastPart: Readonly<Record<ViewName, string>> = {
  pipeline: '.changes .chart',
  changes: '#talk',
  quote: '.lines',
  quotes: '.figure:has-text("Approval rate")',
  company: '.opportunity-entry',
  change: '.decision button:not([aria-disabled])',
};
const views: readonly ViewName[] = ['pipeline', 'changes', 'quote', 'quotes', 'company', 'change'];

const server = spawn(
  process.execPath,
  ['dist/cpq-mcp.js', 'http', '--sandbox', '--allow-writes', '--port', '0'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--force-color-profile=srgb'],
});
try {
  const address = await previewAddress(server);
  for (const look of looks) await drawAll(address, look);
  for (const size of [64, 512]) await drawIcon(size);
} finally {
  await browser.close();
  server.kill();
}

async function previewAddress({ stdout }: ChildProcess): Promise<string> {
  let output = '';
  for await (const part of stdout ?? []) {
    output += String(part);
    const [address] = /http:\/\/\S+\/preview\b/.exec(output) ?? [];
    if (address) return address;
  }
  throw new Error('The server ended before it printed the address of the preview.');
}

/** The build puts the smaller one into the server. */
async function drawIcon(size: number): Promise<void> {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const icon = await readFile('icons/icon.svg', 'base64');
  const image = `<img src="data:image/svg+xml;base64,${icon}" width="${size}" style="display:block">`;
  await page.setContent(`<body style="margin:0">${image}</body>`);
  await page.screenshot({ path: `icons/icon-${size}.png`, omitBackground: true });
  await page.close();
}

async function drawAll(address: string, { name, width, colorScheme }: Look): Promise<void> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    deviceScaleFactor: 1,
    colorScheme,
    locale: 'en-US',
  });
  const page = await context.newPage();
  for (const view of views) {
    await page.goto(address);
    await page.getByRole('button', { name: new RegExp(`^${view}$`, 'i') }).click();
    await draw(page, view, `docs/images/${view}-${name}.png`, width);
  }
  await context.close();
}

/** The whole view: a frame beyond the window would not be drawn. */
async function draw(page: Page, view: ViewName, path: string, width: number): Promise<void> {
  const frame = await viewFrame(page);
  const iframe = page.locator('iframe');
  await iframe.evaluate((it, to) => {
    it.style.width = `${to}px`;
    it.style.maxWidth = 'none';
    it.style.border = '0';
  }, width);
  // The first comparison with the history takes long on a busy machine.
  const options = { timeout: 120_000 };
  await frame.waitForSelector(lastPart[view], options);
  if (view === 'pipeline') await frame.waitForSelector('.trend', options);
  const height = await frame.locator('html').evaluate(({ scrollHeight }) => scrollHeight);
  await page.setViewportSize({ width: width + 100, height: height + 400 });
  // The view reports its height to the preview, which sets that of the frame.
  while (((await iframe.boundingBox())?.height ?? 0) < height) await page.waitForTimeout(50);
  await iframe.screenshot({ path });
}

async function viewFrame(page: Page): Promise<Frame> {
  const handle = await page.locator('iframe').elementHandle();
  const frame = await handle?.contentFrame();
  if (!frame) throw new Error('The preview shows no view.');
  return frame;
}
