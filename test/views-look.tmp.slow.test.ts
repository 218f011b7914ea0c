import { test } from 'vitest';
import { httpHosts } from './support/hosts.ts';
import { openView } from './support/view-host.ts';

test('look', async () => {
  const host = httpHosts[0];
  if (!host) return;
  const server = await host.start('embedded', { grants: 'read' });
  const { records } = await server.call('cpq_list_quotes', { size: 1 });
  const quote = { quote: String(records[0]?.id) };
  const company = { company: String(records[0]?.companyId) };
  for (const [name, args] of [['cpq_brief_pipeline', {}], ['cpq_brief_quote', quote], ['cpq_brief_company', company]] as const) {
    for (const [look, options] of [['light', {}], ['dark', { context: { theme: 'dark' } }], ['narrow', { width: 360 }]] as const) {
      const view = await openView(server, name, args, options);
      await view.page.waitForTimeout(700);
      await view.page.screenshot({ path: `/tmp/p/${name.slice(10)}-${look}.png`, fullPage: true });
      if (view.errors.length) console.error(name, look, view.errors, view.calls.length);
      else console.error(name, look, 'ok', view.calls.length, view.requests);
      await view.close();
    }
  }
});
