import { expect, test } from 'vitest';
import { open } from '../support/hosts.ts';
import { start } from '../support/process.ts';
import { startSandbox } from '../support/sandbox.ts';

test('the preview exists only with the embedded tenant', async () => {
  const server = await open({ at: await startSandbox({ scale: 0.1 }) });
  for (const path of ['/preview', '/preview/quote.html']) {
    const response = await fetch(new URL(path, server.url));
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain('<html');
  }
  await server.close();
});

test('the preview is served to this machine alone', async () => {
  const open = ['--host', '0.0.0.0', '--auth', 'token'];
  const running = await start(['http', '--sandbox', '--port', '0', ...open]);
  const [url] = await running.says(/http:\/\/[^\s"']+\/mcp\b/);
  const { port } = new URL(url);
  expect((await fetch(`http://127.0.0.1:${port}/preview`)).status).toBe(404);
  expect(running.output.stdout).not.toContain('/preview');
});

test('the preview has no other pages, and cannot be framed by others', async () => {
  const running = await start(['http', '--sandbox', '--port', '0']);
  const [url] = await running.says(/http:\/\/[^\s"']+\/preview\b/);
  for (const path of ['/preview/', '/preview/x.html', '/preview/../package.json', '/preview%2f']) {
    expect((await fetch(new URL(path, url))).status).toBe(404);
  }
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain('<html');
  expect(response.headers.get('content-security-policy')).toBe("frame-ancestors 'self'");
});
