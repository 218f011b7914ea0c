import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { icon } from '../../src/mcp/icon.ts';
import { everyHost } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';

const sandbox = shared(() => startSandbox({ scale: 0.1 }));
const address = async () => addressIn(await sandbox());

test('the icon is the one in the folder of icons', async () => {
  const png = await readFile('icons/icon-64.png', 'base64');
  expect(icon.src).toBe(`data:image/png;base64,${png}`);
});

describe.each(everyHost.filter(({ era }) => era !== 'first line'))('$name', (host) => {
  const server = host.serving(address);

  test('shows an icon when the connection is opened, and in no list', async () => {
    const { request, output } = await server();
    await request('tools/list');
    const written = output.stdout + output.http;
    expect(written.match(/data:image\/png/g)).toHaveLength(1);
  });
});
