import { describe, expect, test } from 'vitest';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { type Connection, modernHttp, type Row, serving } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import { addEdgeCases } from '../support/oracle/edge-cases.ts';
import type { Sandbox } from '../support/sandbox.ts';
import { expectHarmless, fitsIn, texts, unreadable, violations } from '../support/view-checks.ts';
import { everyCapability, type OpenedView, type Options, openView } from '../support/view-host.ts';

/** Every view that reads, with tenants that are messy, empty or in yen, from 320 to 1,400 pixels. */

const today = new Date().toISOString().slice(0, 10);

/** How the data of each differs from the usual one. */
const viewTenants: Readonly<Record<string, (sandbox: Sandbox) => void>> = {
  /** Names that are long, written from right to left, or without a place to break; currencies that are none. */
  messy: ({ database, tenants }) => {
    for (const { name } of tenants) addEdgeCases(database, name, today);
    database.exec(`
      update opportunity set name = 'שדרוג רשת המשרדים בתל אביב, 75 יחידות' where rowid % 5 = 1;
      update opportunity set name = name || ' ' || printf('%.*c', 90, 'x') where rowid % 7 = 2;
      update opportunity set onetimeRevenue = 123456789.5 where rowid % 6 = 3;
      update opportunity set onetimeRevenue = null, monthlyRevenue = null where rowid % 6 = 4;
      update company set currency = null where rowid % 3 = 0;
      update company set currency = 'Points' where rowid % 10 = 1;
      update company set name = printf('%.*c', 70, 'W') where rowid % 4 = 2;
      update quote set title = 'הצעת מחיר ' || title where rowid % 4 = 1;
      update quote_item set name = printf('%.*c', 120, 'y') where rowid % 5 = 1`);
  },
  // Without cents, and with many digits.
  yen: ({ database }) =>
    database.exec(`
      update company set currency = 'JPY';
      update opportunity set onetimeRevenue = round(onetimeRevenue * 150);
      update quote_item set price = round(price * 150), setupPrice = round(setupPrice * 150)`),
  empty: ({ database }) => {
    for (const table of ['opportunity', 'quote', 'quote_item', 'contact', 'contract_item'])
      database.exec(`delete from ${table}`);
  },
};

const firstOf = async (server: Connection, list: string): Promise<unknown> =>
  (await server.call(list, { size: 1 })).records[0]?.id ?? 'none';

const views: Readonly<
  Record<string, readonly [tool: string, args: (server: Connection) => Promise<Row>]>
> = {
  pipeline: ['cpq_brief_pipeline', async () => ({})],
  closed: ['cpq_brief_pipeline', async () => ({ outcome: 'closed' })],
  changes: ['cpq_pipeline_changes', async () => ({})],
  quotes: ['cpq_brief_quotes', async () => ({})],
  quote: ['cpq_brief_quote', async (it) => ({ quote: await firstOf(it, 'cpq_list_quotes') })],
  company: [
    'cpq_brief_company',
    async (it) => ({ company: await firstOf(it, 'cpq_list_companies') }),
  ],
};

async function open(server: Connection, name: string, options: Options = {}): Promise<OpenedView> {
  const [tool, argsOf] = views[name] ?? ['', async () => ({})];
  const view = await openView(server, tool, await argsOf(server), {
    capabilities: everyCapability,
    ...options,
  });
  // What is read besides the answer.
  await view.page.waitForTimeout(500);
  return view;
}

async function expectWell(view: OpenedView): Promise<void> {
  expect(await fitsIn(view)).toBe(true);
  expect(await unreadable(view)).toEqual([]);
}

describeWith('chromium', 'views of other tenants', () => {
  describe.each(Object.entries(viewTenants))('%s', (name, change) => {
    const { address } = embeddedTenant({ as: 'all', change });
    const server = serving({ at: address, on: modernHttp });

    test.each(Object.keys(views))(
      'the %s fits, and is accessible, from left to right and from right to left',
      async (view) => {
        const opened = await open(await server(), view, { width: 1400 });
        expect(await violations(opened)).toEqual([]);
        for (const width of [1400, 700, 320]) {
          await opened.page.setViewportSize({ width, height: 900 });
          await opened.page.waitForTimeout(100);
          await expectWell(opened);
        }
        const shown = await opened.frame.innerText('body');
        expect(shown).not.toMatch(/NaN|undefined|\[object|Infinity| \(\)/);
        if (name === 'yen') expect(shown).not.toMatch(/\$|¥[\d,]+\.\d/);
        await opened.page.emulateMedia({ forcedColors: 'active' });
        await opened.page.evaluate(() => window.host.change({ locale: 'he-IL' }));
        await opened.frame.waitForFunction(() => document.dir === 'rtl');
        expect(await violations(opened)).toEqual([]);
        await expectWell(opened);
        expectHarmless(opened);
      },
    );
  });
});

/** What can be reached with the tabulator, in its order. */
async function reached({ frame, page }: OpenedView): Promise<string[]> {
  const all: string[] = [];
  await frame.locator('body').click({ position: { x: 2, y: 2 } });
  for (let tabs = 0; tabs < 400; tabs++) {
    await page.keyboard.press('Tab');
    const at = await frame.evaluate(() => {
      const active = document.activeElement;
      if (!active || active === document.body || !document.hasFocus()) return '';
      active.setAttribute('data-reached', '');
      return `${active.tagName} ${active.textContent?.slice(0, 40)}`;
    });
    if (at === '') break;
    all.push(at);
  }
  return all;
}

describeWith('chromium', 'views with the keyboard alone', () => {
  const server = serving({ on: modernHttp });

  test.each(Object.keys(views))('the %s', async (name) => {
    const view = await open(await server(), name);
    const stops = await reached(view);
    expect(stops.length).toBeGreaterThan(2);
    const missed = await view.frame.$$eval(
      ':is(button, select, summary, input):not([data-reached])',
      (found) => found.filter((it) => it.checkVisibility()).map((it) => it.outerHTML),
    );
    expect(missed).toEqual([]);
    const link = view.frame.locator('.card, :is(.chart, .table) button.link').first();
    if ((await link.count()) > 0 && name !== 'quote') {
      await link.focus();
      await view.page.keyboard.press('Enter');
      await view.frame.waitForSelector('.side-panel');
      await view.page.keyboard.press('Escape');
      expect(await texts(view, '.side-panel')).toEqual([]);
      expect(await link.evaluate((it) => it === document.activeElement)).toBe(true);
    }
  });
});
