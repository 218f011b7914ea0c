import { test, vi } from 'vitest';
import { openTenant, toolCall } from '/work/main/test/hardening-tenant.ts';
import { startUpstream } from '/work/main/test/support/upstream/upstream.ts';
import { faults } from '/work/main/test/support/upstream/faults.ts';
import { interactive } from '/work/main/src/tenant/call.ts';
test('x', async () => {
  const upstream = await startUpstream();
  upstream.set(faults['never-answers']);
  const tenant = openTenant({ url: upstream.url, limits: { attemptMs: 20000 } });
  const stop = new AbortController();
  const asked = tenant.client.page('company', { size: 5 }, interactive(toolCall({ signal: stop.signal }))).catch((e) => e);
  await vi.waitFor(() => { if (upstream.requests.length < 1) throw new Error('no') });
  console.log('sockets', upstream.openSockets());
  stop.abort(new Error('enough'));
  console.log(String(await asked));
  for (let i = 0; i < 5; i++) { await new Promise(r => setTimeout(r, 50)); console.log('sockets', upstream.openSockets(), upstream.requests.map(r => r.outcome), process.getActiveResourcesInfo().filter(x=>/TCP/.test(x))); }
  await tenant.close(); await upstream.close();
});
