import { describe, expect, test } from 'vitest';
import { addDays, utcDay } from '../../src/figures/days.ts';
import { embeddedTenant } from '../support/embedded-tenant.ts';
import { everything, open as openServer, type Row, serving } from '../support/hosts.ts';
import { serviceRecords } from '../support/samples.ts';
import { hold, until } from '../support/until.ts';
import { type Call, openInDom, type ViewInDom } from '../support/view-dom.ts';

const { address } = embeddedTenant({ scale: 0.1, as: 'all' });
const server = serving({ at: address, ...everything });
/** With a history of the pipeline. */
const embedded = serving(everything);
const yesterday = addDays(utcDay(new Date()), -1);
const first = async (path: string) => (await serviceRecords(await address(), path, '?size=1'))[0];

interface Shown {
  args(): Promise<Row>;
  /** Texts of the data that the view shows. */
  facts(data: Row): unknown[];
}
const rowsAt = (data: Row, ...path: string[]): Row[] =>
  (path.reduce<unknown>((it, name) => (it as Row | undefined)?.[name], data) as Row[]) ?? [];

const views: Record<string, Shown> = {
  cpq_brief_pipeline: {
    args: async () => ({}),
    facts: (data) => rowsAt(data, 'overdue', 'rows').map(({ name }) => name),
  },
  cpq_brief_quotes: {
    args: async () => ({}),
    facts: (data) => rowsAt(data, 'quotes', 'rows').map(({ number }) => number),
  },
  cpq_brief_quote: {
    args: async () => ({ quote: (await first('/quote'))?.id }),
    facts: (data) => rowsAt(data, 'lines', 'rows').map(({ name }) => name),
  },
  cpq_brief_company: {
    args: async () => ({ company: (await first('/company'))?.id }),
    facts: (data) => [(data.company as Row).name],
  },
};

/** The parts of a coverage as a view says them. */
const complete = /all \d[\d,]* records read/;

describe.each(Object.entries(views))('the view of %s', (tool, { args, facts }) => {
  test('connects to a host of the SDK, and shows the data', async () => {
    const connection = await server();
    const given = await args();
    const { data } = await connection.call(tool, given);
    const expected = facts(data).map(String);
    expect(expected.length).toBeGreaterThan(0);
    const view = await openInDom(connection, tool, given);
    for (const fact of expected) await until(view.text).toContain(fact);
    expect(view.text()).toMatch(complete);
    expect(view.find('.coverage.partial')).toEqual([]);
    const name = expect.stringMatching(/^cpq-mcp-[a-z]+$/);
    expect(view.sent[0]).toMatchObject({ method: 'ui/initialize', params: { appInfo: { name } } });
    expect(await view.remove()).toBe(true);
  });

  test('says that an answer is not complete', async () => {
    const coverage = {
      complete: false,
      read: 3,
      total: 1_007,
      asOf: '2026-11-24T10:00:00Z',
      reason: 'out of time',
    };
    const view = await openInDom(await server(), tool, await args(), (result) => ({
      ...result,
      structuredContent: { ...(result.structuredContent as Row), coverage },
    }));
    await until(view.text).toContain('only 3 of 1,007 records read: out of time');
    expect(view.find('.coverage.partial').length).toBeGreaterThan(0);
    expect(view.text()).not.toMatch(complete);
  });

  test('reads the data itself where the host passes on the text alone', async () => {
    const given = await args();
    const view = await openInDom(await server(), tool, given, (result, own) =>
      own ? result : { content: result.content },
    );
    await until(view.text).toMatch(complete);
    expect(view.calls[0]).toMatchObject({ name: tool, arguments: given });
  });

  test('listens to its host and to no other window', async () => {
    const view = await openInDom(await server(), tool, await args());
    await until(view.text).toMatch(complete);
    const told = 'The call failed.';
    const failed = message('tool-result', {
      isError: true,
      content: [{ type: 'text', text: told }],
    });
    for (const sender of [{}, null]) view.deliver(failed, sender);
    await tick();
    expect(view.text()).not.toContain(told);
    view.deliver(failed, view.host);
    await until(view.text).toContain(told);
  });

  test('keeps what it shows when the host cancels a call', async () => {
    const view = await openInDom(await server(), tool, await args());
    await until(view.text).toMatch(complete);
    const others = { ...(await args()), owner: 'Nobody' };
    view.deliver(message('tool-input', { arguments: others }), view.host);
    view.deliver(message('tool-cancelled', {}), view.host);
    await tick();
    expect(view.text()).not.toContain('Nobody');
    expect(view.text()).not.toContain('cancelled');
    expect(view.text()).toMatch(complete);
  });
});

const tick = () => new Promise((resolve) => setTimeout(resolve));

const message = (name: string, params: Row) => ({
  jsonrpc: '2.0',
  method: `ui/notifications/${name}`,
  params,
});

/** A result with other data. */
const withData = (result: Row, changed: Row): Row => ({
  ...result,
  structuredContent: { ...(result.structuredContent as Row), ...changed },
});

const usd = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
const owners = ['Karen Fitzgerald', 'Omar Okafor'] as const;

describe('a choice', () => {
  /** A view whose call with these arguments waits. */
  async function choosing(tool: string, late: Row) {
    const { held, release } = hold();
    const isLate = ({ sections, ...args }: Row = {}) =>
      !sections && Object.entries(late).every(([name, value]) => args[name] === value);
    const view = await openInDom(await server(), tool, {}, async (result, own) => {
      if (own?.name === tool && isLate(own.arguments)) await held;
      return result;
    });
    return { view, release };
  }

  test('is not undone by the late answer to the one before it', async () => {
    const { view, release } = await choosing('cpq_brief_pipeline', { owner: owners[0] });
    await until(() => view.find('.card').length).toBeGreaterThan(0);
    const before = view.calls.length;
    await view.choose('Owner', owners[0]);
    await view.choose('Owner', owners[1]);
    const scope = () => view.find('.scope .badge').map(({ textContent }) => textContent);
    await until(scope).toEqual([`Owner: ${owners[1]}`]);
    release();
    await until(() => view.calls.length).toBeGreaterThan(before + 2);
    await tick();
    expect(scope()).toEqual([`Owner: ${owners[1]}`]);
  });

  test('is added to the one before it, though that is not answered yet', async () => {
    const { view, release } = await choosing('cpq_brief_quotes', { acceptance: 'draft' });
    await until(view.text).toMatch(complete);
    await view.choose('State', 'draft');
    await view.choose('Sort', 'expiry');
    release();
    await until(() => view.calls.at(-1)?.arguments).toMatchObject({
      acceptance: 'draft',
      sort: 'expiry',
    });
  });

  test('leaves no deals, names or rows of before under the figures of now', async () => {
    const { held, release } = hold();
    const view = await openInDom(await server(), 'cpq_brief_pipeline', {}, async (result, own) => {
      if (own?.name === 'cpq_pipeline_deals' && own.arguments?.owner) await held;
      return result;
    });
    await until(() => view.find('.card').length).toBeGreaterThan(0);
    await until(() => view.find('.leading button').length).toBeGreaterThan(0);
    view.find('.leading button')[0]?.click();
    await until(() => view.find('.side-panel').length).toBe(1);
    await view.choose('Owner', owners[1]);
    await until(() => view.find('.scope').length).toBe(1);
    await tick();
    expect(view.find('.scope .badge')[0]?.textContent).toBe(`Owner: ${owners[1]}`);
    expect(view.find('.card, .side-panel')).toEqual([]);
    release();
    await until(() => view.find('.card').length).toBeGreaterThan(0);
  });
});

const failed = (reason: string): Row => ({
  isError: true,
  content: [{ type: 'text', text: reason }],
});
const told = (data: Row): Row => ({ content: [], structuredContent: data });
const panel = (view: ViewInDom) => view.find('.side-panel')[0]?.textContent ?? '';
const windowOf = (view: ViewInDom) =>
  view.find('body')[0]?.ownerDocument.defaultView as unknown as typeof globalThis & {
    document: { activeElement: unknown };
    navigator: object;
  };
/** A figure by its label, its value first. */
const figure = (view: ViewInDom, label: string) => {
  const found = view.find('.figure').find((it) => it.textContent.startsWith(label));
  return {
    value: found?.querySelector('.value')?.textContent,
    button: found?.querySelector('button'),
  };
};
const toggle = (view: ViewInDom, name: string) => {
  const details = view.find('details').find(({ textContent }) => textContent.includes(name));
  details?.setAttribute('open', '');
  details?.dispatchEvent(new (windowOf(view).Event)('toggle') as never);
};

const openPipeline = (change?: Parameters<typeof openInDom>[3], args: Row = {}) =>
  server().then((it) => openInDom(it, 'cpq_brief_pipeline', args, change));
const cards = async (view: ViewInDom) => {
  await until(() => view.find('.card').length).toBeGreaterThan(0);
  await until(view.text).toMatch(/ open opportunities shown/);
  return view.find('.card');
};

describe('a pipeline', () => {
  test('says why costs could not be read, until something is', async () => {
    const reason = 'The service did not answer.';
    const view = await openPipeline((result, own) =>
      own?.arguments?.show && own.name === 'cpq_brief_pipeline' ? failed(reason) : result,
    );
    await cards(view);
    view.find('.switch input').at(-1)?.click();
    await until(view.text).toContain(reason);
    view.click('Refresh');
    await until(view.text).not.toContain(reason);
  });

  test('is read again with its filters', async () => {
    const args = { owner: 'Karen Fitzgerald' };
    const view = await openPipeline(undefined, args);
    await cards(view);
    const before = view.calls.length;
    view.click('Refresh');
    const again = (name: string) => () =>
      view.calls.slice(before).find((call) => call.name === name)?.arguments;
    await until(again('cpq_brief_pipeline')).toEqual(args);
    const page = { ...args, deals_from: 0, rows: 1000 };
    await until(again('cpq_pipeline_deals')).toEqual(page);
  });

  test('leads to the next deal in the order of the board', async () => {
    const view = await openPipeline();
    await cards(view);
    await view.choose('Sort', 'closes');
    await tick();
    const [first, second] = view.find('.column:first-child .card');
    const textIn = (part: string) => second?.querySelector(part)?.textContent.replace('…', '');
    first?.focus();
    first?.click();
    await until(() => panel(view)).not.toBe('');
    view.click('Next');
    await until(() => panel(view)).toContain(textIn('.name'));
    expect(panel(view)).toContain(`Probability${textIn('.chance')}`);
    view.click('Close');
    expect(windowOf(view).document.activeElement).toBe(first);
  });

  test('leads to the next deal in the order of the table', async () => {
    const view = await openPipeline();
    await cards(view);
    await view.choose('Show as', 'table');
    await until(() => view.find('.board-section tbody button').length).toBeGreaterThan(1);
    view.click('Company');
    await until(() => view.find('[aria-sort="ascending"]')[0]?.textContent).toBe('Company ↑');
    const [first, second] = view.find('.board-section tbody button');
    first?.click();
    await until(() => panel(view)).not.toBe('');
    view.click('Next');
    await until(() => view.find('#side-panel')[0]?.textContent).toBe(second?.textContent);
  });

  test('measures the amount that is chosen, weighted or not', async () => {
    const view = await openPipeline();
    await cards(view);
    const measure = () => view.find('#by-month ~ table .about')[0]?.textContent;
    await view.choose('Amount', 'monthly');
    await until(measure).toBe('Monthly revenue, USD');
    view.find('.switch input')[0]?.click();
    await until(measure).toBe('Monthly revenue, weighted, USD');
  });

  test('that is searched has figures of what was found, or says that a part is of all', async () => {
    const view = await openPipeline();
    await cards(view);
    const { stalled } = (await server.call('cpq_brief_pipeline', {})).data as { stalled: Row };
    expect(view.find('.column .sum')[0]?.textContent).toContain('in stage');
    await view.choose('Deals', 'stalled');
    await until(() => figure(view, 'Open opportunities').value).toBe(String(stalled.total));
    expect(figure(view, 'Total contract value').value).toBe(
      usd.format((stalled.value as { USD: number }).USD),
    );
    expect(view.text()).toContain('whatever is searched');
    expect(
      view
        .find('.column .sum')
        .map((it) => it.textContent)
        .join(),
    ).not.toContain('in stage');
  });
});

describe('the figures of a pipeline', () => {
  test('have no days in a stage whose name another has', async () => {
    let name: unknown;
    const view = await openPipeline((result, own) => {
      const groups = rowsAt(result, 'structuredContent', 'groups', 'rows');
      const group = groups.find((it) => it.name === 'Discovery');
      if (own || !group) return result;
      name = group.name;
      const half = { ...group, count: 1, daysInStage: 9 };
      const others = groups.filter((other) => other !== group);
      return withData(result, { groups: { rows: [half, half, ...others] } });
    });
    await cards(view);
    const own = view.find('.board .column').find((it) => it.dataset.column === name);
    expect(own?.textContent).toContain(`${name}`);
    expect(own?.textContent).not.toContain('in stage');
    expect(view.find('.board')[0]?.textContent).toContain('in stage');
  });

  test('say until when won and lost deals are counted', async () => {
    const period = { period_from: '2026-01-01', period_to: '2026-03-31' };
    const view = await openPipeline(undefined, period);
    await until(view.text).toMatch(/\d lost from Jan 1, 2026 to Mar 31, 2026/);
  });

  test('have one currency in the panel of a converted deal', async () => {
    const args = { outcome: 'closed', rates: 'CAD=0.73 USD' };
    const record = { value: 100, oneTime: 100, currency: 'CAD', owner: 'Owner of A' };
    const view = await openPipeline((result, own) => {
      if (own?.name === 'cpq_get_record') return told({ record });
      const records = [{ id: 'a', name: 'A', value: 73, currency: 'USD' }];
      return own ? withData(result, { records, page: { total: 1 } }) : result;
    }, args);
    await until(() => view.find('#closed ~ * tbody button').length).toBe(1);
    view.find('#closed ~ * tbody button')[0]?.click();
    await until(() => panel(view)).toContain('Owner of A');
    expect(panel(view)).toContain('Total contract value$73');
    expect(panel(view)).not.toContain('100');
  });
});

describe('the answer of a pipeline', () => {
  test('shows the groups that the board does not have, and a target', async () => {
    const view = await openPipeline(undefined, { by: 'category', target: 900_000_000 });
    await cards(view);
    expect(view.find('#groups')[0]?.textContent).toBe('By category');
    expect(view.text()).toContain('Missing to the target');
  });

  test('has no bar for an amount below 0', async () => {
    const view = await openPipeline((result, own) => {
      if (own?.name !== 'cpq_pipeline_deals') return result;
      const [deal] = rowsAt(result, 'structuredContent', 'records');
      return withData(result, { records: [{ ...deal, value: -5 }], page: { total: 1 } });
    });
    await cards(view);
    expect(view.find('.gauge span')[0]?.getAttribute('style')).toContain('width: 0%');
  });

  test('does not say how many deals of a kind there are before all are read', async () => {
    const view = await openPipeline((result, own) =>
      own?.arguments?.outcome === 'closed'
        ? withData(result, { page: { total: 1_400, next: 500 } })
        : result,
    );
    await cards(view);
    view
      .find('.figure')
      .find(({ textContent }) => textContent.startsWith('Win rate'))
      ?.querySelector('button')
      ?.click();
    await until(() => panel(view)).toMatch(/\d shown; there may be more\./);
  });

  test('tells the model no name in place of an id, and shows what was written', async () => {
    let written: Row = { closes: '2027-01-31' };
    const { held, release } = hold();
    const view = await openPipeline(async (result, own) => {
      if (own?.name === 'cpq_get_record') {
        await held;
        return told({ record: { ...written, company: 'Acme', companyId: 'c-1' } });
      }
      if (own?.name !== 'cpq_upsert_opportunity') return result;
      written = { closes: '2027-03-31', value: 77, currency: 'USD' };
      return told({ outcome: 'written', summary: 'Written.' });
    });
    (await cards(view))[0]?.click();
    await until(() => panel(view)).toContain('Company');
    expect(view.find('.side-panel dd button')).toEqual([]);
    release();
    await until(() => view.find('.side-panel dd button')[0]?.textContent).toBe('Acme');
    expect(panel(view)).toContain('Jan 31, 2027');
    await view.choose('Expected close', '2027-03-31');
    await tick();
    view.click('Move close date');
    await until(() => panel(view)).toContain('Mar 31, 2027');
    expect(panel(view)).not.toContain('Jan 31, 2027');
    // Nothing of the list, which is older.
    expect(panel(view)).toContain('Total contract value$77');
    expect(panel(view)).not.toContain('Probability');
    view.click('Another change');
    await until(() => panel(view)).toContain('Change this opportunity');
  });
});

const likelyToClose = (closes: string) => ({
  ...{ id: closes, closes, currency: 'USD' },
  ...{ value: 7, probability: 0.9 },
});

describe('what changed', () => {
  const pipeline = [
    { step: 'opening', count: 3, value: { JPY: 900_000, USD: 10 } },
    { step: 'won', count: 1, value: { JPY: -9 } },
    { step: 'closing', count: 3, value: { JPY: 900_000, USD: 10 } },
  ];
  const rowsOf = (...currencies: string[]) =>
    currencies.map((currency, id) => ({
      id: `${id}`,
      name: `Deal ${id}`,
      movement: ['won'],
      currency,
      value: 1,
      stage: 'New → Done',
    }));
  const deals = { shown: 3, total: 240, next: 3, rows: rowsOf('USD', 'USD', 'JPY') };
  const data = {
    ...{ pipeline, deals, moves: [{ move: 'slipped', count: 240 }] },
    quotes: { rows: [{ movement: 'sent', count: 2 }], changed: { total: 2, rows: [] } },
    stages: [{ name: 'New', left: 9 }],
  };
  const args = { owner: owners[0], currency: 'USD', since: '90d', until: yesterday };
  const open = async (more: (own: Call) => Row | undefined = () => undefined) =>
    openInDom(await server(), 'cpq_pipeline_changes', args, (result, own) => {
      const other = own && more(own);
      if (other) return withData(result, other);
      return !own || own.name === 'cpq_pipeline_changes' ? withData(result, data) : result;
    });

  test('is in the currency of most deals, or another that is chosen; unknown is not 0', async () => {
    let later: Row | undefined;
    const view = await open(() => later);
    const bars = () => view.find('.chart .amount').map(({ textContent }) => textContent);
    await until(bars).toEqual(['$10', '–', '$10']);
    await view.choose('Charts in', 'JPY');
    await until(bars).toEqual(['¥900,000', '-¥9', '¥900,000']);
    later = { ...data, pipeline: pipeline.map((row) => ({ ...row, value: { USD: 10 } })) };
    await view.result(told(later));
    await until(bars).toEqual(['$10', '+$10', '$10']);
  });

  test('is whole in each currency though the answer was of one movement', async () => {
    const part = { ...data, pipeline: [] };
    const args = { movement: 'slipped' };
    const view = await openInDom(await server(), 'cpq_pipeline_changes', args, (result, own) =>
      !own || own.name === 'cpq_pipeline_changes' ? withData(result, own ? data : part) : result,
    );
    const bars = () => view.find('.chart .amount').map(({ textContent }) => textContent);
    await until(bars).toEqual(['$10', '–', '$10']);
  });

  test('opens all that moved, page by page', async () => {
    const view = await open();
    await until(() => view.find('.moves button').length).toBe(2);
    const [deals, quotes] = view.find('.moves button');
    deals?.click();
    for (const shown of [3, 6, 9]) {
      await until(() => panel(view)).toContain(`${shown} of 240 shown.`);
      view.click('Show more');
    }
    const asked = () => view.calls.at(-1)?.arguments;
    await until(asked).toMatchObject({ ...args, movement: 'slipped', from: 3 });
    quotes?.click();
    await until(asked).toMatchObject({ ...args, movement: 'sent', by: 'quote' });
    // Nine left the stage, of which three are known.
    expect(view.find('#stages ~ * button.link')).toEqual([]);
  });

  test('is copied with what it is of, and how much was read', async () => {
    const coverage = { complete: false, read: 3, total: 1_007, asOf: '2026-11-24T10:00:00Z' };
    const view = await open();
    await until(() => view.find('.moves button').length).toBe(2);
    await view.result(told({ ...data, coverage }));
    await until(view.text).toContain('only 3 of 1,007 records read');
    const copied: string[] = [];
    const clipboard = { writeText: async (text: string) => copied.push(text) };
    Object.defineProperty(windowOf(view).navigator, 'clipboard', { value: clipboard });
    view.click('Copy as text');
    await until(() => copied.join()).toContain('only 3 of 1,007 records read');
    expect(copied.join()).toContain(`Owner: ${owners[0]}`);
  });

  test('is a forecast that says what it was read from, and repeats the target', async () => {
    const records = [yesterday, utcDay(new Date())].map(likelyToClose);
    const view = await open(({ name, arguments: asked }) => {
      if (asked?.since === 'last_month') return { filter: 'owner', summary: 'Which owner?' };
      return name === 'cpq_pipeline_deals' ? { records, page: { total: 9_000 } } : undefined;
    });
    await until(() => view.find('.chart').length).toBe(1);
    toggle(view, 'Forecast against a target');
    await until(view.text).toMatch(/Only \d+ of 9,000 open deals were read/);
    // An overdue deal is in no figure of the forecast.
    expect(figure(view, 'Committed').value).toBe('$7');
    await until(view.text).toContain('Which owner?');
    await view.choose('Target', '500,000');
    await until(view.text).toContain('Target: $500,000.');
    await view.choose('Target', '500k');
    await until(view.text).toContain('Not understood');
    const calls = view.calls.filter(({ name }) => name === 'cpq_pipeline_deals');
    expect(calls.map((call) => call.arguments?.currency)).toEqual(['USD']);
  });
});

const preflight = { stops: 0, checks: 0, shown: 0, total: 0, rows: [] };
const line = (at: number) => ({
  line: at,
  name: `Item ${at}`,
  quantity: 1,
  price: 10,
  total: 10,
  term: 'one-time',
  setupPrice: 5,
  cost: 7,
  margin: 30,
});
const lines = (shown: number, total: number) => ({
  lines: { shown, total, rows: Array.from({ length: shown }, (_, at) => line(at + 1)) },
  preflight,
});
const openQuote = async (data: Row, more: Row = {}, addressOf = (result: Row) => result) =>
  openInDom(
    await server(),
    'cpq_brief_quote',
    { quote: (await first('/quote'))?.id },
    (result, own) =>
      !own || own.name === 'cpq_brief_quote'
        ? withData(result, { ...data, ...(own && more) })
        : addressOf(result),
    { downloadFile: {}, openLinks: {} },
  );
const saved = (view: ViewInDom) => view.sent.filter(({ method }) => method === 'ui/download-file');

describe('a quote', () => {
  test('has a copy for the customer with each line and setup', async () => {
    const view = await openQuote(lines(150, 150));
    await until(() => view.find('.lines tbody tr').length).toBe(300);
    view.find('.switch input')[0]?.click();
    await until(view.text).toContain('30.0%');
    view.click('Save for the customer');
    const copy = () => JSON.stringify(saved(view).at(-1) ?? '');
    await until(copy).toContain('Setup: Item 150<');
    const costs = />(?:Cost|Margin|Profit)<|30\.0%|Internal/;
    expect(copy()).not.toMatch(costs);
    view.click('Save internal copy');
    await until(copy).toMatch(costs);
  });

  test('has none for the customer where a line cannot be read', async () => {
    const view = await openQuote(lines(25, 330), lines(102, 330));
    await until(view.text).toContain('25 of 330 lines shown');
    view.click('Save for the customer');
    await until(view.text).toContain('228 lines cannot be read here');
    expect(saved(view)).toEqual([]);
  });

  test('has a copy for the customer where companies may not be read', async () => {
    const reader = await openServer({ at: address, grants: 'quote:read' });
    const args = { quote: (await first('/quote'))?.id };
    const change = (result: Row) => withData(result, lines(1, 1));
    const view = await openInDom(reader, 'cpq_brief_quote', args, change, { downloadFile: {} });
    await until(view.text).toContain('Save for the customer');
    view.click('Save for the customer');
    await until(() => saved(view).length).toBe(1);
  });

  test('says why a draft could not be saved, and that it is one', async () => {
    const draft = { ...lines(1, 1), preflight: { ...preflight, stops: 1 } };
    const isDraft = { status: 'draft', statusCategory: 'draft' };
    let isBroken = true;
    const view = await openQuote({ ...draft, ...isDraft }, {}, (result) =>
      isBroken ? failed('Rate limit.') : result,
    );
    await until(view.text).toContain('Save for the customer');
    view.click('Save for the customer');
    await until(view.text).toContain('Save as a draft');
    view.click('Save as a draft');
    await until(view.text).toContain('Rate limit.');
    expect(saved(view)).toEqual([]);
    isBroken = false;
    view.click('Save as a draft');
    const copy = () => JSON.stringify(saved(view).at(-1) ?? '');
    await until(copy).toContain('Draft: not released');
    expect(copy()).toContain('Place and date, name, signature');
    expect(copy()).not.toMatch(/First-year value|Must fix|<button/);
  });

  test('is printed where no file can be saved, or not at all', async () => {
    const args = { quote: (await first('/quote'))?.id };
    const view = await openInDom(await server(), 'cpq_brief_quote', args);
    await until(view.text).toContain('Print internal copy');
    // Of a host that lets views print nothing.
    Object.assign(windowOf(view), { print: () => {} });
    view.click('Print internal copy');
    await until(view.text).toContain('This host lets views neither print nor save a file.');
    // What the browser itself prints later has no internal part.
    expect(view.find('html')[0]?.dataset.print).toBeUndefined();
  });

  test('opens the quote in the service, where it has a page there', async () => {
    const link = 'https://quotes.example/view/1';
    const view = await openQuote({ link });
    await until(view.text).toContain('Open at quotes.example');
    view.click('Open at quotes.example');
    await until(() => view.sent.at(-1)?.params).toEqual({ url: link });
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'no link'])(
    'offers no link to %s',
    async (link) => {
      const view = await openQuote({ link });
      await until(view.text).toMatch(complete);
      expect(view.text()).not.toContain('Open at');
    },
  );
});

describe('the costs of a quote', () => {
  test.each([{ id: 'other' }, {}])('does not keep the costs of before: %j', async (changed) => {
    const { held, release } = hold();
    let isLate = false;
    const view = await openInDom(
      await server(),
      'cpq_brief_quote',
      { quote: (await first('/quote'))?.id },
      async (result) => {
        if (isLate) await held;
        return result;
      },
    );
    await until(() => view.find('.switch input').length).toBe(1);
    view.find('.switch input')[0]?.click();
    await until(() => view.find('#margins').length).toBe(1);
    const other = await server.ask('cpq_brief_quote', {
      quote: (await first('/quote'))?.id,
    });
    isLate = true;
    await view.result(withData(other.result as Row, { ...changed, name: 'Of now' }));
    await until(() => view.find('h1')[0]?.textContent).toContain('Of now');
    await until(() => view.find('#margins').length).toBe(0);
    release();
  });

  test('is compared without taking unknown for 0', async () => {
    const quotes = { rows: [{ id: 'q2', number: 'Q-2' }], total: 350 };
    const { quantity: _quantity, ...unknown } = line(1);
    const view = await openInDom(
      await server(),
      'cpq_brief_quote',
      { quote: (await first('/quote'))?.id },
      (result, own) => {
        if (own?.name === 'cpq_brief_quotes') return told({ quotes });
        const margin = own?.arguments?.quote === 'q2' ? 11 : 22;
        const lines = { shown: 1, total: 1, rows: [{ ...unknown, margin }] };
        return own ? withData(result, { lines, terms: [], preflight }) : result;
      },
    );
    await until(() => view.find('summary').length).toBe(1);
    view.find('.switch input')[0]?.click();
    toggle(view, 'Compare with another quote');
    await until(view.text).toContain('The 1 largest of 350 quotes of the company.');
    await view.choose('Other quote', 'q2');
    await until(view.text).toContain('unknown × ');
    const margins = view.find('[data-title$=" margin"]').map(({ textContent }) => textContent);
    expect(margins).toEqual(['11.0%', '22.0%']);
  });
});

describe('quotes', () => {
  test('without one-time items have no unknown amount', async () => {
    const row = { id: 'q', name: 'Licences', status: 'draft', monthly: 20, currency: 'USD' };
    const { data } = await server.call('cpq_brief_company', await views.cpq_brief_company?.args());
    const quotes = { ...(data.quotes as Row), shown: 1, total: 1, rows: [row] };
    const args = { company: (data.company as Row).id };
    const view = await openInDom(await server(), 'cpq_brief_company', args, (result, own) =>
      own ? result : withData(result, { quotes: { byStatus: [{ ...row, count: 1 }], ...quotes } }),
    );
    await until(view.text).toContain('Licences');
    expect(view.find('[aria-label="Quotes"] tbody')[0]?.textContent).toBe('LicencesDraft$20–');
  });

  test('are listed from the first, and open with their zeros', async () => {
    const view = await openInDom(
      await server(),
      'cpq_brief_quotes',
      { by: 'owner', size: 100, from: 1, currency: 'USD' },
      (result, own) => {
        if (own?.name === 'cpq_check_sales_data')
          return withData(result, {
            total: 1,
            currency: 'EUR',
            rows: [{ id: 'c', valueAtStake: 5 }],
          });
        if (own?.name !== 'cpq_brief_quote') return result;
        const [row] = rowsAt(result, 'structuredContent', 'lines', 'rows');
        const rows = [{ ...row, quantity: 0 }];
        const why = 'The price is under the cost of 7.';
        const finding = { code: 'price_under_cost', severity: 'stop', line: 1, why };
        const preflight = { stops: 1, checks: 0, shown: 1, total: 1, rows: [finding] };
        const lines = { shown: 1, total: 1, rows };
        return withData(result, { firstYearValue: 0, lines, preflight });
      },
    );
    await until(() => view.find('tbody button.link').length).toBeGreaterThan(0);
    const asked = () => view.calls.find(({ name }) => name === 'cpq_brief_quotes')?.arguments;
    await until(() => asked()?.from).toBe(0);
    await until(view.text).toContain('of all states, days, currencies and items');
    view.find('tbody button.link')[0]?.click();
    await until(() => panel(view)).toMatch(/First-year value\D{0,4}0\.00/);
    expect(view.find('.side-panel tbody .num')[0]?.textContent).toBe('0');
    expect(panel(view)).toContain('Line 1: Concerns costs');
    expect(panel(view)).not.toContain('under the cost');
    view.click('Close');
    figure(view, 'Expiring soon').button?.click();
    await until(() => panel(view)).toContain('€5');
  });
});

describe('a company', () => {
  const pricing = { shown: 1, total: 90, rows: [{ id: 'p', name: 'Book' }] };
  const people = ['kim@example.com', 'kim@example.com?bcc=spy@evil.example'].map((email, at) => ({
    id: `${at}`,
    name: 'Kim',
    email,
    phone: ['+49 (0) 30 1234', '030 1234 / 0171 5678'][at],
  }));
  const contacts = { shown: 2, total: 5, rows: people };
  const open = async (listed: (result: Row) => Row) =>
    openInDom(
      await server(),
      'cpq_brief_company',
      { company: (await first('/company'))?.id },
      (result, own) =>
        own?.name === 'cpq_list_opportunities'
          ? listed(result)
          : own
            ? result
            : withData(result, { contacts, pricingBooks: pricing, closed: { won: { count: 9 } } }),
      { openLinks: {} },
    );

  test('is whole, but for closed opportunities, where the tool for them is not listed', async () => {
    const { baseUrl, key } = await address();
    const briefs = await openServer({
      at: { baseUrl, key },
      ...everything,
      toolsets: 'briefs,events',
    });
    const company = (await first('/company'))?.id;
    const view = await openInDom(briefs, 'cpq_brief_company', { company });
    await until(() => view.calls.map(({ name }) => name)).toEqual(['cpq_list_events']);
    expect(view.text()).toContain('Closed opportunities are not shown:');
    expect(view.text()).not.toContain('could not be read');
  });

  test('says which parts of it are shown', async () => {
    // A service that ignores the filter sends opportunities of other companies.
    const { id: companyId } = (await first('/company')) ?? {};
    const records = [
      { id: 'o', companyId: 'other', name: 'Deal of another company' },
      { id: 'w', companyId, outcome: 'won', name: 'One of those won' },
    ];
    const view = await open((result) => withData(result, { records, page: { total: 180 } }));
    await until(view.text).toMatch(/Only the first \d+ of 180 opportunities were read\./);
    expect(view.text()).not.toContain('Deal of another company');
    await until(view.text).toContain('One of those won');
    expect(figure(view, 'Won')).toMatchObject({ value: '9', button: null });
    expect(view.text()).toContain('Contacts: 2 of 5');
    expect(view.text()).toContain('Pricing books: 1 of 90');
    // Events of closed opportunities, too.
    const events = () => view.calls.find(({ name }) => name === 'cpq_list_events')?.arguments?.id;
    await until(() => String(events()).split('|')).toContain('w');
  });

  test('says what could not be read, and opens one address and one number only', async () => {
    const view = await open(() => failed('Rate limit.'));
    await until(view.text).toContain('Closed opportunities could not be read. Rate limit.');
    const links = view.find('.contact-links button');
    expect(links.map(({ textContent }) => textContent)).toEqual([
      people[0]?.email,
      people[0]?.phone,
    ]);
    for (const link of links) link.click();
    const opened = () => view.sent.flatMap((it) => (it.params as Row | undefined)?.url ?? []);
    await until(opened).toEqual([`mailto:${people[0]?.email}`, 'tel:+49301234']);
  });
});

test('a pipeline does not call a part of its deals all of them', async () => {
  const view = await openInDom(await server(), 'cpq_brief_pipeline', {}, (result, own) =>
    own?.name === 'cpq_pipeline_deals' ? withData(result, { page: { total: 9_000 } }) : result,
  );
  await until(view.text).toMatch(/ shown; \d+ of 9,000 read\./);
  // Nor does a figure that counts all open those that were read.
  expect(view.find('.leading button')).toEqual([]);
});

test.each(['cpq_brief_pipeline', 'cpq_brief_quotes'])(
  'all that the view of %s reads is filtered as its answer is',
  async (tool) => {
    const [deal] = (await server.call('cpq_pipeline_deals', { rows: 1, deals_from: 0 })).records;
    const scope = { owner: deal?.owner, company: deal?.company };
    const view = await openInDom(await server(), tool, scope);
    await until(view.text).toMatch(complete);
    await until(() => view.calls.length).toBeGreaterThan(1);
    for (const call of view.calls) expect(call).toMatchObject({ arguments: scope });
  },
);

test('a question that is answered does not expire before the answer comes', async () => {
  const { held, release } = hold();
  const asked = (secret: string, expiresAt: string) => ({
    ...told({ outcome: 'not_asked' }),
    _meta: { 'cpq-mcp/consent': { secret, expiresAt, question: 'Change it?' } },
  });
  const [past, args] = [new Date(0).toJSON(), { external_id: 'V-1', create: true, name: 'Asked' }];
  const view = await openInDom(await server(), 'cpq_upsert_opportunity', args, async (_, own) => {
    if (!own) return asked('one', past);
    await held;
    return told({ outcome: 'written' });
  });
  await until(view.text).toContain('This question can no longer be answered');
  const window = windowOf(view);
  const [wait, expiries]: [typeof setTimeout, (() => void)[]] = [window.setTimeout, []];
  Object.assign(window, {
    setTimeout: (work: () => void, ms: number) =>
      ms > 300_000 ? expiries.push(work) : wait.call(window, work, ms),
  });
  await view.result(asked('two', new Date(window.Date.now() + 600_000).toJSON()));
  await until(() => {
    // A second click comes before the next drawing.
    for (const _ of [1, 2]) view.click('Write it');
    return view.text();
  }).toContain('Writing, then reading it back');
  expect(expiries.map((expire) => expire())).toHaveLength(1);
  await tick();
  expect(view.text()).toContain('Writing, then reading it back');
  expect(view.calls).toHaveLength(1);
  release();
  await until(view.text).toContain('Verified');
});

test('a switch stays as it was clicked until its answer comes, whatever is drawn meanwhile', async () => {
  const { held, release } = hold();
  const view = await openInDom(await server(), 'cpq_brief_pipeline', {}, async (result, own) => {
    if (own?.name === 'cpq_brief_pipeline') await held;
    return result;
  });
  const profit = () =>
    view.find('.switch input').at(-1) as unknown as { click(): void; checked: boolean };
  await until(() => view.find('.card').length).toBeGreaterThan(0);
  profit().click();
  await view.choose('Find', 'no such words anywhere');
  await until(() => view.find('.card').length).toBe(0);
  expect(profit().checked).toBe(true);
  release();
  await view.choose('Find', '');
  await until(view.text).toContain('Profit');
  expect(profit().checked).toBe(true);
});

/** Every number that opens a panel: how many rows it says, and how many the panel has. */
async function openedCounts(view: ViewInDom): Promise<[string, number, number][]> {
  const found: [string, number, number][] = [];
  const counts = () =>
    view
      .find('main > :not(.side-panel) :is(.figure, .chart, .moves, .table) button.link')
      .filter(({ textContent }) => /^[\d,]+$/.test(textContent));
  for (let at = 0; at < counts().length; at++) {
    const button = counts()[at];
    button?.click();
    await until(() => view.find('.side-panel tbody tr').length).toBeGreaterThan(0);
    const said = view.find('.side-panel p.about').at(-1)?.textContent;
    const [, total] = /of ([\d,]+)(?: shown)?\.$/.exec(said ?? '') ?? [];
    const rows = total ?? String(view.find('.side-panel tbody tr').length);
    const numbers = [button?.textContent, rows].map((it) => Number(it?.replace(',', '')));
    found.push([button?.getAttribute('aria-label') ?? '', numbers[0] ?? 0, numbers[1] ?? 0]);
    view.click('Close');
    await until(() => panel(view)).toBe('');
  }
  return found;
}

const company = { company: 'Hawthorne Title Services' };
const dealFilters = { currency: 'USD', min_value: 1, owner: owners[0] };
const ofAll = { currency: 'USD', min_value: 1 };

test.each<[tool: string, args: Row, filters: Row]>([
  ['cpq_brief_pipeline', dealFilters, dealFilters],
  ['cpq_brief_pipeline', { ...ofAll, outcome: 'closed', by: 'owner' }, ofAll],
  ['cpq_brief_company', company, {}],
  ['cpq_pipeline_changes', { owner: owners[0] }, { owner: owners[0] }],
])('every number opens exactly what it counts: %s %j', async (tool, args, filters) => {
  const view = await openInDom(await embedded(), tool, args);
  await until(view.text).toMatch(complete);
  if (!args.outcome && tool === 'cpq_brief_pipeline')
    await until(() => view.find('.changes .chart').length).toBe(1);
  const rate = figure(view, 'Win rate').button;
  if (rate) {
    rate.click();
    await until(() => panel(view)).toContain(' shown');
    view.click('Close');
  }
  const counts = await openedCounts(view);
  expect(counts.length).toBeGreaterThan(2);
  for (const [label, said, rows] of counts) expect([label, rows]).toEqual([label, said]);
  // The choice of an owner has all of them.
  const calls = view.calls.filter((call) => !call.arguments?.sections);
  for (const call of calls) expect(call.arguments).toMatchObject(filters);
  const { data } = await embedded.call(tool, args);
  const groups = rowsAt(data, 'quotes', 'byStatus').map(({ status, acceptance, currency }) =>
    expect.objectContaining(JSON.parse(JSON.stringify({ status, acceptance, currency }))),
  );
  const ofQuotes = calls.filter(({ name }) => name === 'cpq_brief_quotes');
  expect(ofQuotes.map((call) => call.arguments)).toEqual(expect.arrayContaining(groups));
});

const candidates = {
  summary: 'Two match.',
  records: [
    { id: 'a', name: 'A' },
    { id: 'b', name: 'B' },
  ],
};

test.each<[tool: string, args: Row, result?: Row]>([
  ['cpq_brief_pipeline', {}],
  ['cpq_brief_pipeline', { outcome: 'closed', by: 'owner' }],
  ['cpq_brief_quotes', {}],
  ['cpq_brief_company', company],
  ['cpq_brief_company', company, told(candidates)],
  ['cpq_pipeline_changes', { since: '90d' }],
])(
  'a host that lets views call nothing has no button that calls: %s %j',
  async (tool, args, result) => {
    const without = { serverTools: undefined };
    const view = await openInDom(await embedded(), tool, args, (given) => result ?? given, without);
    await until(view.text).toMatch(result ? /Two match/ : complete);
    for (const button of view.find('button')) button.click();
    await tick();
    for (const button of view.find('.side-panel button')) button.click();
    await tick();
    expect(view.sent.map(({ method }) => method)).not.toContain('tools/call');
  },
);

test.each<[tool: string, args: Row, part: string]>([
  ['cpq_brief_pipeline', {}, 'cpq_pipeline_deals'],
  ['cpq_brief_pipeline', {}, 'cpq_pipeline_changes'],
  ['cpq_brief_pipeline', { outcome: 'closed' }, 'cpq_pipeline_deals'],
  ['cpq_brief_quotes', { size: 2 }, 'cpq_brief_quotes'],
  ['cpq_brief_quotes', {}, 'cpq_check_sales_data'],
  ['cpq_brief_company', company, 'cpq_list_opportunities'],
  ['cpq_brief_company', company, 'cpq_list_events'],
  ['cpq_pipeline_changes', { rows: 1 }, 'cpq_pipeline_changes'],
])('the view of %s %j says why it could not read from %s', async (tool, args, part) => {
  let isBroken = true;
  const view = await openInDom(await embedded(), tool, args, (result, own) =>
    isBroken && own?.name === part ? failed('Rate limit.') : result,
  );
  await until(view.text).toContain('Rate limit.');
  isBroken = false;
  for (const name of ['Try again', 'Refresh']) if (view.text().includes(name)) view.click(name);
  await until(view.text).not.toContain('Rate limit.');
});

test('a question back lists nothing as deals', async () => {
  const asked = told({ ...candidates, filter: 'company' });
  const args = { outcome: 'closed' };
  const view = await openInDom(await embedded(), 'cpq_brief_pipeline', args, (result, own) =>
    own?.name === 'cpq_pipeline_deals' && own.arguments?.outcome === 'won' ? asked : result,
  );
  await until(view.text).toMatch(complete);
  figure(view, 'Won, total').button?.click();
  await until(() => panel(view)).toContain('Two match.');
  expect(view.find('.side-panel tbody tr')).toEqual([]);
});

test.each<[tool: string, args: Row]>([
  ['cpq_brief_pipeline', { ...dealFilters, close_to: '2027-03-31' }],
  ['cpq_brief_quotes', { company: 'Westbrook Foods', date_from: '2026-01-01', status: 'sent' }],
  ['cpq_pipeline_changes', { owner: owners[0], until: yesterday }],
])('what the view of %s is filtered by is said, and can be removed: %j', async (tool, args) => {
  const view = await openInDom(await embedded(), tool, args);
  await until(() => view.find('.scope .badge').length).toBe(Object.keys(args).length);
  view.click('Remove the filters');
  await until(() => view.find('.scope')).toEqual([]);
});

test.each([
  [{}, 'ui/message'],
  [{ updateModelContext: {} }, 'ui/update-model-context'],
])('a question comes with the record that it is about: %j', async (more, method) => {
  const capabilities = { message: {}, ...more };
  const view = await openInDom(
    await embedded(),
    'cpq_brief_company',
    company,
    undefined,
    capabilities,
  );
  await until(view.text).toContain('Ask about this');
  view.click('Ask about this');
  const { id } = (await embedded.call('cpq_brief_company', company)).data.company as Row;
  const told = () => JSON.stringify(view.sent.filter((it) => it.method === method));
  await until(told).toContain(`the id ${id};`);
});
