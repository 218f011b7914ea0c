import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { everyHost } from '../support/hosts.ts';

const { address } = embeddedTenant({ scale: 0.1 });

for (const host of everyHost) {
  describe(host.name, () => {
    const server = host.serving(address);

    test('lists its tools and answers a call', async () => {
      expect((await server.tools()).map((tool) => tool.name)).toContain('cpq_list_companies');
      const { records, page, text } = await server.call('cpq_list_companies', { size: 3 });
      expect(records).toHaveLength(3);
      expect(page.next).toBe(3);
      for (const { id } of records) expect(text).toContain(id);
    });
  });
}

for (const host of everyHost.filter(({ era }) => era === 'modern')) {
  test(`announces nothing, and says so at once to who listens, ${host.name}`, async () => {
    const { client, output } = await host.start(await address());
    const listening = (client.sdk as Client).listen({ toolsListChanged: true });
    await expect(listening).rejects.toThrow('Method not found');
    expect(output.stderr).not.toMatch(/error|warn/i);
  });
}
