import { describe, expect, test } from 'vitest';
import type { PipelineBrief } from '../../src/briefs/pipeline/pipeline.ts';
import type { QuotesBrief } from '../../src/briefs/quotes/quotes.ts';
import { personAnswers } from '../support/consent.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { type Connection, modernHttp, type Row, serving } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import {
  allRead,
  expectHarmless,
  fitsIn,
  texts,
  unreadable,
  violations,
} from '../support/view-checks.ts';
import { everyCapability, type OpenedView, type Options, openView } from '../support/view-host.ts';

/** What a person does in the views: opens what a figure counts, filters, compares, saves, asks for a change. */

const { address } = embeddedTenant({ as: 'all' });
/** With a history of the pipeline. */
const embedded = serving({ on: modernHttp });
const open = (server: Connection, name: string, args: Row = {}, options: Options = {}) =>
  openView(server, name, args, { capabilities: everyCapability, ...options });

const inPanel = ({ frame }: OpenedView, selector: string) =>
  frame.locator(`.side-panel ${selector}`);
const titleOf = (view: OpenedView) => view.frame.textContent('#side-panel');

/** Figures by their label. */
const figure = ({ frame }: OpenedView, label: string) =>
  frame.locator('.figure', { has: frame.locator(`dt:text-is("${label}")`) });

const expectUsable = async (view: OpenedView) => {
  expect(await violations(view)).toEqual([]);
  expect(await fitsIn(view)).toBe(true);
  expect(await unreadable(view)).toEqual([]);
  expectHarmless(view);
};

type Serving = () => Promise<Connection>;

describeWith('chromium', 'work in the views', () => {
  const server = serving({ at: address, on: modernHttp });
  figuresOpen(server);
  pipelineWork(server);
  otherViews(server);
  quoteWork(server);
  askedChanges(server);
});

function figuresOpen(server: Serving): void {
  test('a figure opens its rows, a row its record, and the panel leads back', async () => {
    const view = await open(await server(), 'cpq_brief_pipeline');
    await allRead(view);
    const { overdue } = view.data as unknown as PipelineBrief;
    await figure(view, 'Overdue').getByRole('button').click();
    await expect.poll(() => inPanel(view, 'tbody tr').count()).toBe(overdue.total);
    await inPanel(view, 'tbody button').nth(1).click();
    await inPanel(view, 'dt:text-is("Created")').waitFor();
    const second = await titleOf(view);
    await view.page.keyboard.press('ArrowLeft');
    await expect.poll(() => titleOf(view)).not.toBe(second);
    await view.page.keyboard.press('ArrowRight');
    await expect.poll(() => titleOf(view)).toBe(second);
    expect(view.told.at(-1)).toMatch(/^The person is looking at the opportunity with the id \w+;/);
    await inPanel(view, 'button:text-is("Ask about this")').click();
    await inPanel(view, ':text-is("Asked")').waitFor();
    expect(view.said).toEqual([expect.stringMatching(/^What should I know[a-z ,]+\?$/)]);
    await view.page.keyboard.press('Escape');
    await expect.poll(() => titleOf(view)).toBe('Overdue');
    await view.page.keyboard.press('Escape');
    expect(await inPanel(view, '*').count()).toBe(0);
    const focused = () => view.frame.evaluate(() => document.activeElement?.textContent);
    expect(await focused()).toBe(String(overdue.total));
    await view.frame.locator('#by-stage ~ table button').first().click();
    const count = Number(await view.frame.textContent('#by-stage ~ table button >> nth=0'));
    await expect.poll(() => inPanel(view, 'tbody tr').count()).toBe(count);
    await expectUsable(view);
  });
}

function pipelineWork(server: Serving): void {
  test('the arrow keys lead from card to card', async () => {
    const view = await open(await server(), 'cpq_brief_pipeline');
    await allRead(view);
    const ids = await view.frame.$$eval('.column', (columns) =>
      columns.map((it) =>
        [...it.querySelectorAll('.card')].map((card) => card.getAttribute('data-id')),
      ),
    );
    await view.frame.locator('.card').first().focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowUp']) await view.page.keyboard.press(key);
    const focused = await view.frame.evaluate(() =>
      document.activeElement?.getAttribute('data-id'),
    );
    expect(focused).toBe(ids[1]?.[0]);
    await expectUsable(view);
  });

  test('what failed can be tried again', async () => {
    let failures = 1;
    const answer = (result: unknown) => {
      failures -= 1;
      return failures === 0
        ? { isError: true, content: [{ type: 'text', text: 'Not now.' }] }
        : result;
    };
    const refused = () => ({ isError: true, content: [{ type: 'text', text: 'Not today.' }] });
    const view = await open(await server(), 'cpq_brief_quotes', {}, { result: refused, answer });
    expect(await view.frame.textContent('[role="alert"]')).toBe('Not today.');
    await view.frame.click('text="Try again"');
    await view.frame.getByText('Not now.').waitFor();
    await view.frame.click('text="Try again"');
    await view.frame.waitForSelector('.table');
  });

  test('a forecast compares a target with what is won, committed and to be expected', async () => {
    const view = await open(await embedded(), 'cpq_pipeline_changes');
    await view.frame.click('text="Forecast against a target"');
    const target = view.frame.getByLabel('Target, USD');
    await figure(view, 'Committed').waitFor();
    const amountOf = async (label: string) =>
      Number((await figure(view, label).locator('.value').textContent())?.replace(/[$,]/g, ''));
    const sum =
      (await amountOf('Won')) +
      (await amountOf('Committed')) +
      (await amountOf('The rest, weighted'));
    await target.fill(String(sum + 5_000));
    await expect.poll(() => amountOf('Missing to the target')).toBeCloseTo(5_000, -1);
    await view.frame.getByText(/^Expected on /).waitFor();
  });
}

function otherViews(server: Serving): void {
  test('the quotes show their states, and follow the filter', async () => {
    const view = await open(await server(), 'cpq_brief_quotes');
    const { acceptance } = view.data as unknown as QuotesBrief;
    const waiting = acceptance.find((row) => row.acceptance === 'open to acceptance');
    await figure(view, 'Sent').getByRole('button').click();
    await view.frame.getByText(`of ${waiting?.count} shown.`).waitFor();
    await expect.poll(() => view.frame.locator('#list ~ * tbody tr').count()).toBe(waiting?.count);
    await view.frame.locator('#list ~ * tbody button').first().click();
    await inPanel(view, '.pairs').waitFor();
    await expectUsable(view);
  });

  test('the quotes have the approval rate and the days of all, a sort, owners and stops', async () => {
    const it = await server();
    const { data } = await it.call('cpq_brief_quotes', { show: ['approval', 'days'] });
    const { total } = data as unknown as QuotesBrief;
    const view = await open(it, 'cpq_brief_quotes', { size: 2 });
    const rate = `${Math.round((total.approvalRatePercent ?? 0) * 10) / 10}%`;
    await expect
      .poll(() => figure(view, 'Approval rate').locator('.value').textContent())
      .toBe(rate);
    expect(await figure(view, 'Days to approval').locator('.value').textContent()).toBe(
      String(total.daysToApprove?.median),
    );
    const rows = () => texts(view, '#list ~ * tbody td:first-child');
    await view.frame.getByLabel('Sort').selectOption('expiry');
    const sorted = (await it.call('cpq_brief_quotes', { sort: 'expiry', size: 20 })).data as {
      quotes: { rows: Row[] };
    };
    const names = sorted.quotes.rows.map(({ number, name }) =>
      [number, name].filter(Boolean).join(' · '),
    );
    await expect.poll(async () => (await rows()).slice(0, names.length)).toEqual(names);
    await view.frame.getByLabel('State').selectOption('draft');
    await view.frame.click('text="Read what must be fixed in drafts"');
    await view.frame
      .getByRole('button', { name: 'Must fix' })
      .or(view.frame.locator('th:text-is("Must fix")'))
      .waitFor();
    const [draft] = (
      (await it.call('cpq_brief_quotes', { acceptance: 'draft', size: 1 })).data as {
        quotes: { rows: Row[] };
      }
    ).quotes.rows;
    const { preflight } = (await it.call('cpq_brief_quote', { quote: draft?.id })).data as {
      preflight: { stops: number };
    };
    await expect
      .poll(() =>
        view.frame
          .locator(`#list ~ * tbody tr:has-text("${draft?.number}") [data-title="Must fix"]`)
          .textContent(),
      )
      .toBe(String(preflight.stops));
    const owner = view.frame.getByRole('combobox', { name: 'Owner' });
    const all = (await it.call('cpq_brief_quotes', { by: 'owner', groups: 50 }))
      .data as unknown as QuotesBrief;
    const offered = await owner.locator('option').allTextContents();
    for (const { id, name } of all.groups.rows) if (id) expect(offered).toContain(name);
    await expectUsable(view);
  });
}

function quoteWork(server: Serving): void {
  test('the host gives fonts, a full screen and a height', async () => {
    const fonts = '@font-face { font-family: Ours; src: url(https://fonts.example/a.woff2) }';
    const context = {
      styles: {
        css: { fonts },
        variables: { '--font-sans': 'Ours', '--font-heading-md-size': '31px' },
      },
      availableDisplayModes: ['inline', 'fullscreen'],
      containerDimensions: { maxHeight: 400 },
    };
    const view = await open(await server(), 'cpq_brief_pipeline', {}, { context });
    await allRead(view);
    await expect.poll(() => view.requests).toContain('https://fonts.example/a.woff2');
    expect(view.errors.join()).not.toContain('Content Security Policy');
    expect(await view.page.evaluate(() => document.querySelector('iframe')?.style.height)).toBe(
      '400px',
    );
    expect(await view.frame.$eval('h1', (it) => getComputedStyle(it).fontSize)).toBe('31px');
    await view.frame.click('text="Full screen"');
    await view.frame.waitForSelector('text="Back to the conversation"');
  });
}

function askedChanges(server: Serving): void {
  describe('a change that is asked for in the panel', () => {
    const asking = serving({
      on: modernHttp,
      grants: 'read,opportunity:write',
      person: personAnswers.declines,
    });

    test('is asked about in the host’s form, and not written without it', async () => {
      const it = await asking();
      const view = await open(it, 'cpq_brief_pipeline');
      await allRead(view);
      const card = view.frame.locator('.card').first();
      const id = await card.getAttribute('data-id');
      const before = await it.call('cpq_get_record', { resource: 'opportunity', id });
      await card.click();
      await view.frame.click('text="Change this opportunity"');
      await view.frame.getByLabel('Expected close').fill('2031-05-06');
      await view.frame.click('text="Move close date"');
      await view.frame.waitForSelector('.change .title');
      expect(await view.frame.textContent('.change .title')).toContain('Nothing was written');
      const call = view.calls.find(({ name }) => name === 'cpq_upsert_opportunity');
      expect(call?.arguments).toEqual({ opportunity_id: id, expected_close_date: '2031-05-06' });
      const after = await it.call('cpq_get_record', { resource: 'opportunity', id });
      expect(after.data.record).toEqual(before.data.record);
    });

    test('is not offered where nothing may be written', async () => {
      const view = await open(await server(), 'cpq_brief_pipeline');
      await allRead(view);
      await view.frame.locator('.card').first().click();
      await inPanel(view, '.customer-ask').waitFor();
      expect(await view.frame.locator('text="Change this opportunity"').count()).toBe(0);
    });
  });
}
