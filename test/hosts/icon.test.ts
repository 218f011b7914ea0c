import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { everyHostHere, serving } from '../support/hosts.ts';

const { address } = embeddedTenant({ scale: 0.1 });

describe.each(everyHostHere.filter(({ era }) => era !== 'first line'))('$name', (host) => {
  const server = serving({ at: address, on: host });

  test('shows an icon when the connection is opened, and in no list', async () => {
    const { request, output } = await server();
    await request('tools/list');
    const written = output.stdout + output.http;
    const png = await readFile('icons/icon-64.png', 'base64');
    expect(written.match(/data:image\/png;base64,[^"\\]+/g)).toEqual([
      `data:image/png;base64,${png}`,
    ]);
  });
});
