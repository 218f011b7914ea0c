import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { everyHost } from '../support/hosts.ts';
import { addressIn, startSandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';

const sandbox = shared(() => startSandbox({ scale: 0.1 }));

for (const host of everyHost) {
  describe(host.name, () => {
    const server = host.serving(async () => addressIn(await sandbox()));

    test('lists its tools and answers a call', async () => {
      const { tools, call } = await server();
      expect((await tools()).map((tool) => tool.name)).toContain('cpq_list_companies');
      const { records, page, text } = await call('cpq_list_companies', { size: 3 });
      expect(records).toHaveLength(3);
      expect(page.next).toBe(3);
      for (const { id } of records) expect(text).toContain(id);
    });
  });
}

for (const host of everyHost.filter(({ era }) => era === 'modern')) {
  test(`announces nothing, and says so at once to who listens, ${host.name}`, async () => {
    const { client, output } = await host.start(addressIn(await sandbox()));
    const listening = (client.sdk as Client).listen({ toolsListChanged: true });
    await expect(listening).rejects.toThrow('Method not found');
    expect(output.stderr).not.toMatch(/error|warn/i);
  });
}
