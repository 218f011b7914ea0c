import { describe, expect, test } from 'vitest';
import type { CompanyBrief } from '../../src/briefs/company/company.ts';
import type { PipelineBrief } from '../../src/briefs/pipeline/pipeline.ts';
import type { QuoteBrief } from '../../src/briefs/quote/quote.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { type Connection, modernHttp, open, type Row, serving } from '../support/hosts.ts';
import { describeWith } from '../support/needs.ts';
import { startSandbox } from '../support/sandbox.ts';
import { shared } from '../support/shared.ts';
import {
  allRead,
  expectHarmless,
  fitsIn,
  looks,
  texts,
  unreadable,
  violations,
} from '../support/view-checks.ts';
import { type OpenedView, type Options, openView } from '../support/view-host.ts';
import { deliver, webhookSecret, webhooksAt } from '../support/webhooks.ts';

const { address } = embeddedTenant({ as: 'all' });

const whole = (amount: number, currency: string) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency, maximumFractionDigits: 0 }).format(
    amount,
  );
const exact = (amount: number, currency: string) =>
  new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(amount);

/** The figures at the top, by label. */
async function figuresOf({ frame }: OpenedView): Promise<Record<string, string>> {
  const figures = await frame.$$eval('.figure', (found) =>
    found.map((it) => [
      it.querySelector('dt')?.textContent ?? '',
      it.querySelector('.value')?.textContent ?? '',
    ]),
  );
  return Object.fromEntries(figures);
}

async function openPipeline(server: Connection, options?: Options, args: Row = {}) {
  const view = await openView(server, 'cpq_brief_pipeline', args, options);
  await allRead(view);
  return { ...view, data: view.data as unknown as PipelineBrief };
}

type Serving = () => Promise<Connection>;

/** Ids of a quote with a line under its cost, and of a company with open deals and many quotes. */
interface Examples {
  quote: string;
  company: string;
}

/** Found once, because every server has the same tenant. */
let examples: Promise<Examples> | undefined;
function examplesFrom(server: Connection): Promise<Examples> {
  examples ??= findExamples(server);
  return examples;
}

async function findExamples(server: Connection): Promise<Examples> {
  const { records: quotes } = await server.call('cpq_list_quotes', { size: 100 });
  const { records: deals } = await server.call('cpq_brief_pipeline', { deals_from: 0, rows: 100 });
  const withDeals = new Set(deals.map(({ company }) => company));
  const counts = new Map<string, number>();
  for (const { company, companyId } of quotes) {
    const id = String(companyId);
    if (withDeals.has(company)) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const [company] = [...counts].toSorted(([, a], [, b]) => b - a)[0] ?? [];
  for (const { id: quote } of quotes) {
    const { data } = await server.call('cpq_brief_quote', { quote });
    const { lines, preflight } = data as unknown as QuoteBrief;
    const isUnderCost = preflight.rows.some(({ why }) => /under the cost/.test(why));
    if (isUnderCost && lines.total > 2 && company !== undefined)
      return { quote: String(quote), company };
  }
  throw new Error('The tenant has no such quote, or no such company.');
}

async function openQuote(server: Connection, options?: Options) {
  const { quote } = await examplesFrom(server);
  const view = await openView(server, 'cpq_brief_quote', { quote }, options);
  return { ...view, data: view.data as unknown as QuoteBrief };
}

async function openCompany(server: Connection, options?: Options) {
  const { company } = await examplesFrom(server);
  const view = await openView(server, 'cpq_brief_company', { company }, options);
  return { ...view, data: view.data as unknown as CompanyBrief };
}

/** A server that takes webhooks, and has none yet. */
async function takesWebhooks(): Promise<Connection> {
  return open({ at: address, on: modernHttp, webhookSecret });
}

/** A server with events of the company, of one of its quotes and opportunities, and of another company. */
const serverWithEvents = shared(async () => {
  const server = await takesWebhooks();
  const { company } = await examplesFrom(server);
  const { data } = await server.call('cpq_brief_company', { company });
  const about = data as unknown as CompanyBrief;
  const { name, telephone } = about.company;
  const quote = about.quotes?.rows[0];
  await tell(server, [
    ['company.updated', 1, { id: company, name, telephone }],
    ['company.updated', 3, { id: company, name, telephone: '+1 555 0100' }],
    ['company.updated', 2, { id: 'another', name: 'Of nobody here' }],
    ['opportunity.status_changed', 9, ofStage(about.open?.rows[0], 'Proposal out')],
    ['opportunity.created', 21, ofStage(about.open?.rows[0], 'Discovery')],
    ['quote.updated', 14, { id: quote?.id, number: quote?.number, status: quote?.status }],
  ]);
  return server;
});

const ofStage = (deal: { id?: string; name?: string } | undefined, name: string): Row => ({
  ...{ id: deal?.id, name: deal?.name },
  pipelineStage: { name },
});

type Telling = readonly [event: string, daysAgo: number, data: Row];
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

async function tell({ url = '' }: Connection, tellings: readonly Telling[]): Promise<void> {
  for (const [event, days, data] of tellings) {
    const payload = { event, occurredAt: daysAgo(days), data };
    expect((await deliver(webhooksAt(url, 'default'), payload)).status).toBe(200);
  }
}

const openers = { pipeline: openPipeline, quote: openQuote, company: openCompany } as const;
const names = Object.keys(openers) as (keyof typeof openers)[];

function figuresAgree(server: Serving): void {
  test('the pipeline board shows the figures of its answer', async () => {
    const view = await openPipeline(await server());
    const { open, overdue, stalled, closed, groups } = view.data;
    const usd = (amounts: Record<string, number> | undefined) => whole(amounts?.USD ?? 0, 'USD');
    expect(await figuresOf(view)).toMatchObject({
      'Total contract value': usd(open.value),
      'Weighted by probability': usd(open.weightedValue),
      'Open opportunities': String(open.count),
      Overdue: String(overdue.total),
      'Stalled 30 days': String(stalled.total),
      'Win rate by count': `${closed.winRatePercent}%`,
    });
    const columns = await view.frame.$$eval('.column', (found) =>
      found.map((it) => [
        // That of deals without a stage begins with a capital letter, the group in the answer does not.
        it.getAttribute('data-column')?.toLowerCase(),
        it.querySelector('.count')?.textContent,
        it.querySelector('.sum strong')?.textContent,
      ]),
    );
    const expected = groups.rows.map(({ name, count, value }) => [
      name?.toLowerCase(),
      String(count),
      usd(value),
    ]);
    expect(columns.toSorted()).toEqual(expected.toSorted());
    expectHarmless(view);
  });

  test('the quote shows the figures of its answer', async () => {
    const view = await openQuote(await server());
    const { totals, firstYearValue = 0, currency, lines, terms } = view.data;
    const shownTotals: [string, number | undefined][] = [
      ['First-year value', firstYearValue],
      ['One-time', totals.oneTime],
      ['Monthly', totals.monthly],
      ['Yearly', totals.yearly],
    ];
    expect(Object.entries(await figuresOf(view))).toEqual(
      shownTotals.flatMap(([label, amount]) =>
        amount === undefined ? [] : [[label, exact(amount, currency)]],
      ),
    );
    const sums: Record<string, number | undefined> = {
      'one-time': totals.oneTime,
      monthly: totals.monthly,
      yearly: totals.yearly,
    };
    expect(await texts(view, '.lines .total .sum')).toEqual(
      terms.map(({ term }) => exact(sums[term] ?? 0, currency)),
    );
    const shown = await texts(view, '.lines [data-line] [data-title="Total"]');
    const expected = lines.rows.map(({ total }) =>
      total === undefined ? 'unknown' : exact(total, currency),
    );
    expect(shown.toSorted()).toEqual(expected.toSorted());
    expectHarmless(view);
  });

  test('the company shows the figures of its answer', async () => {
    const view = await openCompany(await server());
    const { company, open, closed, quotes } = view.data;
    expect(await texts(view, 'h1 bdi')).toEqual([company.name]);
    expect(await figuresOf(view)).toMatchObject({
      'Open opportunities': String(open?.total),
      'Open total contract value': whole(open?.value?.USD ?? 0, 'USD'),
      Won: String(closed?.won?.count),
    });
    expect(await texts(view, '#quotes')).toEqual([`Quotes: ${quotes?.total}`]);
    const entries = (await texts(view, '.entry strong')).join('\n');
    for (const { name = '' } of [...(open?.rows ?? []), ...(quotes?.rows ?? [])]) {
      expect(entries).toContain(name);
    }
    expectHarmless(view);
  });
}

describeWith('chromium', 'the views in a browser', () => {
  const server = serving({ at: address, on: modernHttp });

  figuresAgree(server);

  describe.each(looks)('%s', (_look, options) => {
    test.each(names)('the %s fits and is accessible', async (name) => {
      const view = await openers[name](
        await (name === 'company' ? serverWithEvents() : server()),
        options,
      );
      if (name === 'pipeline') {
        if (options.width) await view.frame.click('.column summary >> nth=0');
        await view.frame.click('.card >> nth=1');
      }
      if (name === 'company') await view.frame.waitForSelector('.event-entry');
      await view.page.waitForTimeout(300);
      expect(await violations(view)).toEqual([]);
      expect(await fitsIn(view)).toBe(true);
      expect(await unreadable(view)).toEqual([]);
      expectHarmless(view);
    });
  });

  test('the board prints its columns side by side as wide as their numbers', async () => {
    const view = await openPipeline(await server(), { width: 800 });
    await view.page.emulateMedia({ media: 'print' });
    const [widths, clipped] = await view.frame.$$eval('.board .column', (columns) => [
      columns.map((it) => it.getBoundingClientRect().width),
      columns.filter((it) => it.getBoundingClientRect().right > window.innerWidth).length,
    ]);
    expect(Math.min(...(widths as number[]))).toBeGreaterThan(180);
    expect(clipped).toBe(0);
  });

  boardControls(server);
  boardOrder(server);
  profitsHidden(server);
  quoteControls(server);
  quoteCopies(server);
  companyControls(server);
  companyEvents(server);
  manyEvents();
  hostsDiffer(server);
  hostileRecords(server);
  largeTenant();
});

const status = (view: OpenedView) => view.frame.textContent('p[role="status"]');

function boardControls(server: Serving): void {
  describe('the board', () => {
    test('filters by kind and text, and shows how many match', async () => {
      const view = await openPipeline(await server());
      const { open, overdue, stalled, closingSoon } = view.data;
      const counts = { Overdue: overdue, 'Closing soon': closingSoon, Stalled: stalled };
      for (const [label, { total }] of Object.entries(counts)) {
        await view.frame.getByRole('combobox', { name: 'Deals' }).selectOption({ label });
        expect(await status(view)).toBe(`${total} of ${open.count} open opportunities shown.`);
      }
      await view.frame.getByRole('searchbox').fill('no such words anywhere');
      expect(await status(view)).toMatch(/^0 of /);
      const chip = 'Clear the search: stalled, “no such words anywhere”';
      expect(await view.frame.textContent('.empty')).toContain(chip);
      await view.frame.getByRole('button', { name: 'Clear the search' }).click();
      expect(await status(view)).toMatch(new RegExp(`^${open.count} of `));
    });

    test('marks overdue and stalled deals, and no others', async () => {
      const view = await openPipeline(await server());
      while ((await view.frame.locator('.column .more').count()) > 0) {
        await view.frame.locator('.column .more').first().click();
      }
      const marks = await texts(view, '.card .badge');
      expect(marks.filter((mark) => mark === 'Overdue')).toHaveLength(view.data.overdue.total);
      expect(marks.filter((mark) => mark.startsWith('Stalled'))).toHaveLength(
        view.data.stalled.total,
      );
    });
  });
}

function boardOrder(server: Serving): void {
  test('a narrow page has the charts before the list, on less than three screens', async () => {
    const view = await openPipeline(await server(), { width: 390 });
    const parts = await view.frame.$$eval('#by-stage, #by-month, #board', (found) =>
      found.map(({ id }) => id),
    );
    expect(parts).toEqual(['by-stage', 'by-month', 'board']);
    const height = await view.frame.evaluate(() => document.documentElement.scrollHeight);
    expect(height).toBeLessThan(3 * 844);
  });

  test.each(['lost', 'closed'] as const)('shows the deals that were %s', async (outcome) => {
    const view = await openView(await server(), 'cpq_brief_pipeline', { outcome });
    const { closed } = view.data as unknown as PipelineBrief;
    const figures = await figuresOf(view);
    expect(figures).toMatchObject({
      'Won, total contract value': whole(closed.won.value?.USD ?? 0, 'USD'),
      'Lost, total contract value': whole(closed.lost.value?.USD ?? 0, 'USD'),
      'Win rate by count': `${closed.winRatePercent}%`,
    });
    expect(Object.keys(figures)[0]).toMatch(outcome === 'lost' ? /^Lost/ : /^Won/);
    const { total } = (view.data as { page: { total: number } }).page;
    await view.frame.waitForFunction(
      (count) => document.querySelectorAll('#closed ~ * tbody tr').length === count,
      total,
    );
    expect(await violations(view)).toEqual([]);
    expectHarmless(view);
  });

  test('the board counts the same deals in its columns and charts, whatever their currency', async () => {
    const view = await openPipeline(await server());
    const countsIn = async (selector: string) => (await texts(view, selector)).map(Number);
    expect(await countsIn('#by-stage ~ table .count')).toEqual(await countsIn('.column .count'));
    await view.frame.getByRole('combobox', { name: 'Columns' }).selectOption({ label: 'Month' });
    expect(await countsIn('#by-month ~ table .count')).toEqual(await countsIn('.column .count'));
  });
}

function quoteCopies(server: Serving): void {
  describe('the lines of the quote and its prints', () => {
    test('numbers its lines as shown, with setups, and they add up to the totals', async () => {
      const view = await openQuote(await server());
      const numbers = (await texts(view, '.lines .position')).map(Number);
      expect(numbers).toEqual(numbers.map((_, at) => at + 1));
      const sections = await view.frame.$$eval('.lines', (found) =>
        found.map((section) => {
          const amounts = [...section.querySelectorAll('[data-title="Total"], .adjustment .sum')];
          const total = section.querySelector('.total .sum');
          return [amounts.map((it) => it.textContent ?? ''), total?.textContent ?? ''] as const;
        }),
      );
      const amountOf = (text: string) => Number(text.replace(/[$,]/g, ''));
      expect(sections.length).toBeGreaterThan(0);
      for (const [amounts, total] of sections) {
        const sum = amounts
          .filter((it) => it !== 'unknown')
          .reduce((all, it) => all + amountOf(it), 0);
        expect(sum).toBeCloseTo(amountOf(total), 2);
      }
    });

    test('prints a copy for the customer, and an internal one only on request', async () => {
      const view = await openQuote(await server(), { context: { theme: 'dark' } });
      await view.frame.getByRole('switch').check();
      await view.frame.waitForSelector('#margins');
      await view.page.emulateMedia({ media: 'print' });
      const paper = await view.frame.$eval('.lines', (it) => {
        const { color, backgroundColor } = getComputedStyle(it);
        return [color, backgroundColor];
      });
      expect(paper).toEqual([
        'rgb(0, 0, 0)',
        expect.stringMatching(/^rgba?\((?:255, 255, 255|0, 0, 0, 0)\)$/),
      ]);
      const printed = await view.frame.innerText('body');
      for (const { name = '' } of view.data.lines.rows) expect(printed).toContain(name);
      for (const { why } of view.data.preflight.rows) expect(printed).not.toContain(why);
      expect(printed).not.toMatch(/\b(?:margin|profit|cost|internal|records read)\b/i);
      await view.frame.evaluate(() => {
        document.documentElement.dataset.print = 'internal';
      });
      const internal = await view.frame.innerText('body');
      expect(internal).toContain('Internal copy');
      for (const { why } of view.data.preflight.rows) expect(internal).toContain(why);
    });
  });
}

function quoteControls(server: Serving): void {
  describe('the quote', () => {
    const costs = ({ lines }: QuoteBrief): string[] =>
      lines.rows.flatMap(({ cost, margin }) => [
        ...(cost === undefined ? [] : [exact(cost, 'USD')]),
        ...(margin === undefined ? [] : [`${margin.toFixed(1)}%`]),
      ]);

    test('shows costs and margins only on request', async () => {
      const view = await openQuote(await server());
      const secrets = view.data.preflight.rows.filter(({ why }) => /under the cost/.test(why));
      expect(secrets.length).toBeGreaterThan(0);
      const before = await view.frame.content();
      for (const { why } of secrets) expect(before).not.toContain(why);
      expect(await texts(view, '[data-title="Cost"], [data-title="Margin"]')).toEqual([]);
      expect(await texts(view, '.figure dt, .side-panel dt')).not.toContain('Profit');
      await view.frame.getByRole('switch', { name: 'Show costs and margins' }).check();
      await view.frame.waitForSelector('#margins');
      const after = await view.frame.innerText('body');
      for (const cost of costs(view.data)) expect(after).toContain(cost);
      for (const { why } of secrets) expect(after).toContain(why);
      expect(await violations(view)).toEqual([]);
      await view.frame.getByRole('switch').uncheck();
      await view.frame.waitForSelector('#margins', { state: 'detached' });
      expect(await view.frame.content()).toBe(before);
    });

    test('shows each finding next to its line', async () => {
      const view = await openQuote(await server());
      await view.frame.getByRole('switch').check();
      await view.frame.waitForSelector('#margins');
      for (const { line, why } of view.data.preflight.rows) {
        const row = view.frame.locator(`.lines [data-line="${line}"]`);
        const place = line === undefined ? view.frame.locator('#preflight + ul') : row;
        expect(await place.textContent()).toContain(why);
      }
    });

    test('shows the lines that the answer left out', async () => {
      const it = await server();
      const args = { quote: (await examplesFrom(it)).quote, lines: 2 };
      const view = await openView(it, 'cpq_brief_quote', args);
      expect(await texts(view, '.lines [data-line]')).toHaveLength(2);
      await view.frame.locator('button', { hasText: 'Show more lines' }).click();
      await view.frame.waitForSelector('.lines [data-line] >> nth=2');
      const { lines } = view.data as unknown as QuoteBrief;
      expect(await texts(view, '.lines [data-line]')).toHaveLength(lines.total);
    });

    test('asks which quote is meant, and shows the selected one', async () => {
      const it = await server();
      const view = await openView(it, 'cpq_brief_quote', { quote: 'Q-2026' });
      expect(await texts(view, 'h1')).toEqual(['Which one?']);
      expect(await violations(view)).toEqual([]);
      await view.frame.locator('.choice').first().click();
      await view.frame.waitForSelector('.lines');
      expect(view.calls[0]?.name).toBe('cpq_brief_quote');
    });
  });
}

/** Profits as the tools name them, at any depth. */
const namesProfit = (value: unknown): boolean => /"[a-zA-Z]*profit"/i.test(JSON.stringify(value));

function profitsHidden(server: Serving): void {
  test.each(['pipeline', 'company'] as const)(
    'the %s gets no profit before it is asked for',
    async (name) => {
      const received: unknown[] = [];
      const answer = (result: unknown) => {
        received.push((result as Row).structuredContent);
        return result;
      };
      const view = await openers[name](await server(), { answer });
      if (name === 'pipeline') {
        await view.frame.locator('.card').first().click();
        await view.frame.waitForSelector('.side-panel .customer-ask');
      }
      expect(received.length).toBeGreaterThan(0);
      expect(received.filter(namesProfit)).toEqual([]);
      expect(await view.frame.innerText('body')).not.toMatch(/\bprofit\b/i);
      await view.frame.getByRole('switch', { name: 'Show costs and margins' }).check();
      await view.frame.waitForSelector('.figure:has-text("Profit")');
      await view.frame.getByRole('switch', { name: 'Show costs and margins' }).uncheck();
      await view.frame.waitForSelector('.figure:has-text("Profit")', { state: 'detached' });
      expectHarmless(view);
    },
  );
}

function companyControls(server: Serving): void {
  test('the company shows more on request, and asks about the company', async () => {
    const it = await server();
    const { company } = await examplesFrom(it);
    const opened = await openView(it, 'cpq_brief_company', { company, rows: 2 });
    const view = { ...opened, data: opened.data as unknown as CompanyBrief };
    const before = (await texts(view, '.quote-entry')).length;
    await view.frame.click('text="Show all of them"');
    await view.frame.waitForFunction(
      (count) => document.querySelectorAll('.quote-entry').length > count,
      before,
    );
    expect(await texts(view, '.quote-entry')).toHaveLength(view.data.quotes?.total ?? 0);
    await view.frame.click('text="Refresh"');
    await view.frame.waitForSelector('text="Up to date"');
    await view.frame.click('text="Ask about this"');
    await view.frame.waitForSelector('text="Asked"');
    expect(view.said[0]).toContain(view.data.company.id);
    expect(view.said[0]).not.toContain(view.data.company.name);
  });
}

const entriesOf = (view: OpenedView) =>
  view.frame.$$eval('.event-entry', (found) =>
    found.map((it) =>
      ['.day', 'strong', '.badge', '.changes'].map((at) => it.querySelector(at)?.textContent),
    ),
  );

const dayOf = (days: number) =>
  new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(
    new Date(daysAgo(days)),
  );

function companyEvents(server: Serving): void {
  describe('the timeline of the company', () => {
    test('shows events of the company, its quotes and its opportunities', async () => {
      const view = await openCompany(await serverWithEvents());
      await view.frame.waitForSelector('.event-entry');
      const { company, open, quotes } = view.data;
      const [deal, quote] = [open?.rows[0], quotes?.rows[0]];
      const telephone = `telephone: "+1 555 0100" → "${company.telephone}"`;
      expect(await entriesOf(view)).toEqual([
        [dayOf(1), company.name, 'company updated', telephone],
        [dayOf(3), company.name, 'company updated', undefined],
        [dayOf(9), deal?.name, 'opportunity status changed', 'stage: "Discovery" → "Proposal out"'],
        [dayOf(14), quote?.number, 'quote updated', undefined],
        [dayOf(21), deal?.name, 'opportunity created', undefined],
      ]);
      const days = await view.frame.$$eval('.entry .day', (found) =>
        found.map((it) => Date.parse(it.textContent ?? '')),
      );
      expect(days).toEqual(days.toSorted((a, b) => b - a));
      expect(await view.frame.textContent('body')).not.toContain('Of nobody here');
      expect(view.calls.filter(({ name }) => name === 'cpq_list_events')).toHaveLength(1);
      expectHarmless(view);
    });

    test('requests and mentions no events where none are received', async () => {
      const view = await openCompany(await server());
      await view.frame.click('text="Refresh"');
      await view.frame.waitForSelector('text="Up to date"');
      expect(view.calls.map(({ name }) => name)).not.toContain('cpq_list_events');
      expect(await view.frame.innerText('body')).not.toMatch(/\bevents?\b/i);
    });
  });
}

function manyEvents(): void {
  test('the company shows the number of its events, and more of them on request', async () => {
    const it = await takesWebhooks();
    const { company: id } = await examplesFrom(it);
    await tell(
      it,
      Array.from({ length: 25 }, (_, n) => ['company.updated', n + 1, { id, name: `Name ${n}` }]),
    );
    const view = await openCompany(it);
    await view.frame.getByText('20 of 25 events').waitFor();
    expect(await entriesOf(view)).toHaveLength(20);
    await view.frame.getByRole('button', { name: 'Show all of them' }).focus();
    await view.page.keyboard.press('Enter');
    await view.frame.waitForFunction(() => document.querySelectorAll('.event-entry').length === 25);
    expect((await entriesOf(view))[0]?.at(-1)).toBe('name: "Name 1" → "Name 0"');
    await it.close();
  });
}

function hostsDiffer(server: Serving): void {
  describe('a host', () => {
    test('has its locale, theme and colours applied, also when they change', async () => {
      const context = { locale: 'de-DE', styles: { variables: { '--font-sans': 'serif' } } };
      const view = await openQuote(await server(), { context });
      const monthly = view.data.totals.monthly ?? 0;
      const format = new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'USD' });
      expect((await figuresOf(view)).Monthly).toBe(format.format(monthly));
      const style = (property: string) =>
        view.frame.evaluate((it) => getComputedStyle(document.body).getPropertyValue(it), property);
      expect(await style('font-family')).toBe('serif');
      expect(await style('background-color')).toBe('rgb(255, 255, 255)');
      await view.page.evaluate(() => window.host.change({ theme: 'dark', locale: 'en-GB' }));
      await view.frame.waitForFunction(
        () => getComputedStyle(document.documentElement).colorScheme === 'dark',
      );
      expect(await style('background-color')).toBe('rgb(25, 26, 29)');
      expect((await figuresOf(view)).Monthly).toContain('US$');
    });
  });
}

const hostile = [
  '<img src=x onerror="window.hit=1">',
  '<script>window.hit=1</script>',
  '"><svg/onload=window.hit=1>',
  '</script><script>window.hit=1</script>',
  'javascript:window.hit=1',
  'x'.repeat(10_000),
  'مرحبا بالعالم \u202Eabc',
  '{{constructor.constructor("window.hit=1")()}}',
];

/** Replaces every name by hostile text; ids, days and terms stay, because the view needs them. */
function poisoned(value: unknown, at = { next: 0 }): unknown {
  if (Array.isArray(value)) return value.map((entry) => poisoned(entry, at));
  if (typeof value !== 'object' || value === null) return value;
  const poison =
    /^(?:name|company|owner|stage|contact|status|why|item|notes|mpn|website|paymentTerm|event|changes)$/;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => {
      const isText = typeof inner === 'string';
      const isTexts = Array.isArray(inner) && inner.every((one) => typeof one === 'string');
      if (!(isText || isTexts) || !poison.test(field)) return [field, poisoned(inner, at)];
      at.next += 1;
      const text = hostile[at.next % hostile.length];
      return [field, isText ? text : [text]];
    }),
  );
}

function hostileRecords(server: Serving): void {
  test.each(names)('a hostile record does not harm the %s', async (name) => {
    const tampered = (result: unknown) => poisoned(result);
    const isCompany = name === 'company';
    const view = await openers[name](await (isCompany ? serverWithEvents() : server()), {
      ...{ result: tampered, answer: tampered },
      ...(isCompany && { width: 360 }),
    });
    if (isCompany) await view.frame.waitForSelector('.event-entry');
    if (name === 'pipeline') {
      await view.frame.locator('.card').first().click();
      await view.frame.waitForSelector('.side-panel .pairs');
    }
    const hit = await view.frame.evaluate(() => (window as { hit?: number }).hit);
    expect(hit).toBeUndefined();
    const strange = await view.frame.$$eval('img, svg, iframe, a, object, script', (found) =>
      found.map((it) => it.tagName),
    );
    // Only the view's own script.
    expect(strange).toEqual(['SCRIPT']);
    expect(await fitsIn(view)).toBe(true);
    expect(await violations(view)).toEqual([]);
    expect(await view.frame.textContent('body')).toContain('onerror=');
    expectHarmless(view);
  });

  test('a very long stage is cut in the charts, with the whole name as a tooltip', async () => {
    const stage = 'Discovery, with a first meeting and a list of all that the customer has';
    const renamed = (result: unknown) =>
      JSON.parse(JSON.stringify(result).replaceAll('"Discovery"', JSON.stringify(stage)));
    const view = await openPipeline(await server(), { result: renamed, answer: renamed });
    const cell = view.frame.locator('#by-stage ~ table bdi[title]');
    expect(await cell.getAttribute('title')).toBe(stage);
    expect(await cell.textContent()).toBe('Discovery, with a first meeting and a…');
  });

  test('an injected script is not run', async () => {
    const view = await openQuote(await server());
    const ran = await view.frame.evaluate(() => {
      const script = document.createElement('script');
      script.textContent = 'window.hit = 1';
      document.body.append(script);
      return (window as { hit?: number }).hit;
    });
    expect(ran).toBeUndefined();
    expect(view.errors.join()).toContain('Content Security Policy');
  });
}

/** Copies of open opportunities, because a sandbox of this size takes long to make. */
const copies = `
  with recursive copies(n) as (values(100) union all select n + 1 from copies where n < 260)
  insert into opportunity (tenant, id, name, ownerId, pipelineStageId, statusId, createdAt, updatedAt)
  select tenant, substr(id, 1, 17) || n, name, ownerId, pipelineStageId, statusId, createdAt, updatedAt
  from opportunity, copies where closedAt is null and deletedAt is null`;

function largeTenant(): void {
  test('2,000 open opportunities are all on the board, in at most 6 calls', async () => {
    const large = await startSandbox({ scale: 0.1 });
    large.database.exec(copies);
    const server = await open({ at: large, as: 'all', on: modernHttp });
    const view = await openPipeline(server);
    const { count } = view.data.open;
    expect(count).toBeGreaterThan(2_000);
    // Also what changed, and the value day by day.
    await view.frame.getByText(/Nothing to compare yet/).waitFor();
    expect(view.calls.length).toBeLessThanOrEqual(6);
    const counts = (await texts(view, '.column .count')).map((it) => Number(it.replace(',', '')));
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count);
    expectHarmless(view);
    await server.close();
  });
}
