import { describe, expect, test } from 'vitest';
import type { OpenDeal } from '../../src/briefs/pipeline/pipeline.ts';
import { questionPieces } from '../../src/mcp/consent-text.ts';
import {
  answeredTables,
  changeOf,
  endingOf,
  isUndecidable,
  type Proposal,
  partsOf,
  proposedRows,
} from '../../src/views/app/change/data.ts';
import { forecastOf, periodOf } from '../../src/views/app/changes/forecast-figures.ts';
import { dealsToTalkAbout, type MovedDeal } from '../../src/views/app/changes/talk.ts';
import { type PipelineRow, waterfallOf } from '../../src/views/app/changes/waterfall.ts';
import type { CompanyData } from '../../src/views/app/company/data.ts';
import { nextClosing, timelineItems } from '../../src/views/app/company/timeline-items.ts';
import {
  columnsOf,
  type Filter,
  figuresOf,
  inOrder,
  matchingDeals,
  maxAmounts,
  sumOf,
} from '../../src/views/app/pipeline/deals.ts';
import { comparedLines } from '../../src/views/app/quote/compared-lines.ts';
import { withoutCosts } from '../../src/views/app/quote/data.ts';
import { termSections } from '../../src/views/app/quote/numbered-lines.ts';
import { daysLeft, daysWaiting, stateName, stateOf } from '../../src/views/app/records/entries.ts';
import { formatsOf, mainCurrencyOf } from '../../src/views/app/shell/format.ts';
import { showsProfit, withProfit } from '../../src/views/app/shell/profit.ts';
import { pointsOf } from '../../src/views/app/shell/shapes.ts';
import { shortened } from '../../src/views/app/shell/shorten.ts';
import { sortedRows } from '../../src/views/app/shell/sort.ts';
import fc from '../support/fast-check.ts';

const value = { revenue: 'value', weighted: false } as const;
const deal = (id: string, more: Partial<OpenDeal>): OpenDeal => ({ id, currency: 'USD', ...more });
const idsOf = (deals: readonly OpenDeal[]) => deals.map(({ id }) => id).join(' ');

test.each(['![x](https://x.example/y)', '“q” and "q"', 'a\n\n', 'a ⏎ b', 'a\tb\u3000c'])(
  'a question shows %j as it will be stored',
  (text) => {
    const fields = { opportunity: 'A', externalId: 'a', remarks: [], currency: {} };
    const change = { field: 'it', label: 'It', from: undefined, to: text } as const;
    const changes = [
      { ...change, kind: 'text' },
      { ...change, kind: 'custom', to: { a: text } },
    ] as const;
    const asked = { ...fields, what: 'change', changes, digest: '', subject: '' } as const;
    const pieces = questionPieces(asked, 'x') as unknown as Proposal;
    for (const { after, before, isStored } of proposedRows(pieces)) {
      const shown = partsOf(after, before, isStored).map((part) => part.text);
      expect(shown.join('')).toBe(`“${text}”`);
    }
  },
);

describe('a shortened title', () => {
  test.each([
    ['Laptop refresh, 75 units', 20, 'Laptop refresh…'],
    ['Managed endpoint onboarding, 87 devices', 30, 'Managed endpoint onboarding…'],
    ['Server room', 20, 'Server room'],
    ['Server room and network', 11, 'Server room…'],
    ['x'.repeat(30), 10, `${'x'.repeat(10)}…`],
  ])('%s, at most %i characters', (text, max, expected) => {
    expect(shortened(text, max)).toBe(expected);
  });

  test('is never longer than the limit and the sign that it was cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, max) => {
        const short = shortened(text, max);
        expect([...short].length).toBeLessThanOrEqual([...text].length <= max ? max : max + 1);
      }),
    );
  });
});

describe('amounts of several currencies', () => {
  test('are in the same order everywhere: the main one first, unknown last', () => {
    const { totals } = formatsOf('en-US', 'UTC', 'USD');
    expect(totals({ 'unknown currency': 9, EUR: 100, USD: 1, CAD: 5 })).toEqual([
      '$1',
      'CA$5',
      '€100',
      '9 (no currency)',
    ]);
  });

  test('have the currency of most deals as the main one, never an unknown one', () => {
    const counts = { USD: 40, JPY: 1, 'unknown currency': 90 };
    expect(mainCurrencyOf(counts)).toBe('USD');
    expect(mainCurrencyOf({ GBP: 2, EUR: 2 })).toBe('EUR');
    expect(mainCurrencyOf({ 'unknown currency': 3 })).toBeUndefined();
    expect(mainCurrencyOf(undefined)).toBeUndefined();
  });

  test('are kept apart though a currency is called as what every object has', () => {
    const odd = ['constructor', '__proto__'].map((currency) => deal('a', { currency, value: 5 }));
    const sums = Object.entries(sumOf([...odd, ...odd], value));
    expect(sums).toEqual([
      ['constructor', 10],
      ['__proto__', 10],
    ]);
    expect(Object.values(maxAmounts(odd, value))).toEqual([5, 5]);
    expect(stateName('constructor')).toBe('Constructor');
  });

  test('follow the locale', () => {
    const { money, change } = formatsOf('de-DE', 'UTC');
    expect(money(12345, 'EUR')).toBe('12.345\u00a0€');
    expect(change(-5, 'EUR')).toBe('-5\u00a0€');
  });
});

test('a day before and one after are both days, and what is no day stays', () => {
  const { day } = formatsOf('en-US', 'UTC');
  expect(day('2026-11-01 → 2026-11-10')).toBe('Nov 1, 2026 → Nov 10, 2026');
  expect(day('(none) → 2026-11-10')).toBe('(none) → Nov 10, 2026');
  expect(day('2026-13-45')).toBe('2026-13-45');
});

test.each([
  ['de-DE', '500.000', 500_000],
  ['de-DE', '500000,50', 500_000.5],
  ['de-DE', '1.5', undefined],
  ['en-US', '500,000.00', 500_000],
  ['en-US', '500k', undefined],
  ['en-IN', '5,00,000', 500_000],
  ['fr-FR', '500 000', 500_000],
  ['de-CH', "500'000", 500_000],
  ['ar-EG', '٥٠٠٠٠٠', 500_000],
  ['ar-EG', '500000', 500_000],
  ['en-US', '', undefined],
])('in %s, %j is typed for %j', (locale, text, number) => {
  expect(formatsOf(locale, 'UTC').parse(text)).toBe(number);
});

describe('the columns of the board', () => {
  const today = '2026-11-22';
  const deals = [
    deal('late', { closes: '2026-10-01' }),
    deal('now', { closes: '2026-11-22' }),
    deal('last', { closes: '2027-10-31' }),
    deal('far', { closes: '2027-11-01' }),
    deal('undated', {}),
  ];

  test('by month: overdue first, what is far away and undated last', () => {
    const columns = columnsOf(deals, { by: 'month', measure: value, today });
    expect(columns.map(({ name, deals: own }) => [name, idsOf(own)])).toEqual([
      ['Overdue', 'late'],
      ['2026-11', 'now'],
      ['2027-10', 'last'],
      ['Later', 'far'],
      ['No close date', 'undated'],
    ]);
  });

  test('of owners: by value in the currency of most deals', () => {
    const owned = (owner: string, currency: string, value: number) =>
      deal(owner, { owner, currency, value });
    const mixed = [owned('Yen', 'JPY', 5_000_000), owned('A', 'USD', 10), owned('B', 'USD', 20)];
    const columns = columnsOf(mixed, { by: 'owner', measure: value, today });
    expect(columns.map(({ name }) => name)).toEqual(['B', 'A', 'Yen']);
  });

  test('of stages: by the mean probability of the deals that have one', () => {
    const at = (stage: string, probability?: number) =>
      deal(stage, { stage, ...(probability !== undefined && { probability }) });
    const staged = [at('Late', 0.6), at('Late'), at('Late'), at('Early', 0.4), at('New')];
    const columns = columnsOf(staged, { by: 'stage', measure: value, today });
    expect(columns.map(({ name, chance }) => [name, chance])).toEqual([
      ['Early', 0.4],
      ['Late', 0.6],
      ['New', undefined],
    ]);
  });

  test('beyond twelve are one, with all of their deals', () => {
    const owned = Array.from({ length: 15 }, (_, at) =>
      deal(`${at}`, { owner: `O${at}`, value: 10 }),
    );
    const columns = columnsOf(owned, { by: 'owner', measure: value, today });
    expect(columns).toHaveLength(13);
    expect(columns.at(-1)).toMatchObject({ name: '3 others', count: 3, sum: { USD: 30 } });
    expect(columns.flatMap(({ deals: own }) => own)).toHaveLength(15);
  });

  test('are sorted by value, close date, and time without a change; what is unknown comes last', () => {
    const cards = [
      deal('a', { value: 5, closes: '2027-01-01', idleDays: 3 }),
      deal('b', { value: 9, closes: '2026-12-01' }),
      deal('c', { idleDays: 40 }),
    ];
    expect(idsOf(inOrder(cards, 'value', value))).toBe('b a c');
    const weighted = { revenue: 'value', weighted: true } as const;
    const likely = cards.map((card) => ({ ...card, probability: card.id === 'a' ? 0.9 : 0.1 }));
    expect(idsOf(inOrder(likely, 'value', weighted))).toBe('a b c');
    expect(idsOf(inOrder(cards, 'closes', value))).toBe('b a c');
    expect(idsOf(inOrder(cards, 'idle', value))).toBe('c a b');
  });
});

test('the bars of the board compare the amounts that are shown, within one currency', () => {
  const deals = [
    deal('a', { value: 100, probability: 0.1 }),
    deal('b', { value: 60, probability: 0.5 }),
    deal('c', { value: 900, currency: 'JPY' }),
  ];
  expect(maxAmounts(deals, value)).toEqual({ USD: 100, JPY: 900 });
  expect(maxAmounts(deals, { revenue: 'value', weighted: true })).toEqual({ USD: 30, JPY: 0 });
});

test('the board finds deals that are overdue, close soon, or are stalled', () => {
  const deadlines = { today: '2026-11-22', closingBy: '2026-12-22', stalledAfter: 30 };
  const deals = [
    deal('late', { closes: '2026-11-21', idleDays: 29 }),
    deal('today', { closes: '2026-11-22', idleDays: 30 }),
    deal('soon', { closes: '2026-12-22' }),
    deal('later', { closes: '2026-12-23', owner: 'Zoe' }),
    deal('undated', { idleDays: 400 }),
  ];
  const found = (filter: Partial<Filter>) =>
    idsOf(matchingDeals(deals, { text: '', attention: '', ...filter }, deadlines));
  expect(found({ attention: 'overdue' })).toBe('late');
  expect(found({ attention: 'closing' })).toBe('today soon');
  expect(found({ attention: 'stalled' })).toBe('today undated');
  expect(found({ attention: 'stalled', text: 'zoe' })).toBe('');
  expect(found({})).toBe('late today soon later undated');
});

test('the table sorts by any column, in both directions, without values last', () => {
  const rows = [deal('a', { owner: 'Ändra' }), deal('b', {}), deal('c', { owner: 'Zoe' })];
  const { compare } = formatsOf('en-US', 'UTC');
  const by = (direction: 'ascending' | 'descending') =>
    idsOf(
      sortedRows(
        rows,
        [{ title: 'Owner', value: ({ owner }) => owner }],
        { title: 'Owner', direction },
        compare,
      ),
    );
  expect(by('ascending')).toBe('a c b');
  expect(by('descending')).toBe('c a b');
});

describe('the waterfall', () => {
  const rows: PipelineRow[] = [
    { step: 'opening', count: 3, value: { USD: 100 } },
    { step: 'new', count: 1, value: { USD: 100 } },
    { step: 'won', count: 1, value: { USD: -50, CAD: -5 } },
    { step: 'closing', count: 3, value: { USD: 150 } },
  ];

  test('begins each step where the one before it ends', () => {
    const { bars, axisStart } = waterfallOf(rows, 'USD');
    expect(axisStart).toBe(0);
    expect(bars.map(({ kind, start, length }) => [kind, start, length])).toEqual([
      ['total', 0, 50],
      ['up', 50, 50],
      ['won', 75, 25],
      ['total', 0, 75],
    ]);
  });

  test('does not take what is unknown in a currency for 0', () => {
    const { bars } = waterfallOf(rows, 'CAD');
    expect(bars.map(({ amount, length }) => [amount, length])).toEqual([
      [undefined, 0],
      [undefined, 0],
      [-5, 100],
      [undefined, 0],
    ]);
  });

  test('starts at 0 where nothing changed', () => {
    const unchanged = rows
      .filter(({ step }) => step === 'opening' || step === 'closing')
      .map((row) => ({ ...row, value: { USD: 100 } }));
    const { bars, axisStart } = waterfallOf(unchanged, 'USD');
    expect(axisStart).toBe(0);
    expect(bars.map(({ length }) => length)).toEqual([100, 100]);
  });

  test('does not start at 0 where the steps would be too small to see', () => {
    const small = rows.map((row) =>
      row.step === 'new' || row.step === 'won' ? row : { ...row, value: { USD: 1_000 } },
    );
    const { bars, axisStart } = waterfallOf(
      small.map((row) => (row.step === 'closing' ? { ...row, value: { USD: 1_050 } } : row)),
      'USD',
    );
    expect(axisStart).toBe(950);
    for (const { start, length } of bars) {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(start + length).toBeLessThanOrEqual(100.000_001);
    }
  });
});

test('the timeline shows each opportunity once, with the amounts that were read for it', () => {
  const data = {
    today: '2026-11-22',
    company: {},
    recentActivity: { shown: 0, total: 0, rows: [], from: '2026-10-23', to: '2026-11-22' },
    open: {
      shown: 2,
      total: 3,
      rows: [
        { id: 'a', name: 'A', currency: 'USD', value: 1_300 },
        { id: 'b', name: 'B', currency: 'USD', value: 50 },
      ],
    },
  } as unknown as CompanyData;
  const opportunities = [
    { id: 'a', name: 'A', outcome: 'open', oneTime: 100, monthly: 100, currency: 'USD' },
    { id: 'c', name: 'C', outcome: 'open', oneTime: 7, currency: 'USD' },
    { id: 'd', name: 'D', outcome: 'won', oneTime: 9, currency: 'USD' },
  ];
  const items = timelineItems(data, { opportunities, events: [], eventsTotal: 0 });
  const shown = items.map(({ name, isOpen, amounts }) => [
    name,
    isOpen,
    amounts.map(({ amount, per }) => `${amount} ${per}`).join(', '),
  ]);
  expect(shown).toEqual([
    ['B', true, '50 contract value'],
    ['A', true, '100 one-time, 100 monthly'],
    ['C', true, '7 one-time'],
    ['D', false, '9 one-time'],
  ]);
});

test('the next closing is that of an open deal, from today on', () => {
  const data = { today: '2026-11-22', company: {} } as unknown as CompanyData;
  const closing = (day: string, outcome = 'open') => ({ id: day, outcome, closes: day });
  const next = (...opportunities: ReturnType<typeof closing>[]) =>
    nextClosing(timelineItems(data, { opportunities, events: [], eventsTotal: 0 }), data.today);
  const late = closing('2026-11-21');
  expect(next(closing('2026-12-24'), closing('2026-11-22'), late)).toBe('2026-11-22');
  expect(next(closing('2026-12-24'), closing('2026-12-01', 'won'), late)).toBe('2026-12-24');
  expect(next(late)).toBeUndefined();
});

test('the timeline has a closed deal on the day of closing, else on the expected one', () => {
  const data = { today: '2026-11-22', company: {} } as unknown as CompanyData;
  const lost = { id: 'a', name: 'A', outcome: 'lost', closes: '2026-10-01' };
  const opportunities = [lost, { ...lost, id: 'b', name: 'B', closed: '2026-09-30' }];
  const items = timelineItems(data, { opportunities, events: [], eventsTotal: 0 });
  expect(items.map(({ name, day }) => [name, day])).toEqual([
    ['A', '2026-10-01'],
    ['B', '2026-09-30'],
  ]);
});

test('profits are turned on and off without a change of what else is shown', () => {
  const asked = { show: ['ask'] };
  const turnedOn = withProfit(asked, true);
  expect(turnedOn).toEqual({ show: ['ask', 'profit'] });
  expect([showsProfit(asked), showsProfit(turnedOn)]).toEqual([false, true]);
  expect(withProfit(turnedOn, false)).toEqual(asked);
  expect(withProfit({ show: ['profit'] }, false)).toEqual({ show: undefined });
});

test('the trend line has an axis from 0, so that a small change does not look large', () => {
  const size = { width: 100, height: 32 };
  expect(pointsOf([5, 10, 0], size)).toBe('0,16 50,2 100,30');
  expect(pointsOf([100, 98], size)).toBe('0,2 100,2.56');
  expect(pointsOf([0, 0], size)).toBe('0,30 100,30');
});

test('a search in the view has figures of its own', () => {
  const deadlines = { today: '2026-11-22', closingBy: '2026-12-22', stalledAfter: 30 };
  const deals = [
    deal('late', { value: 100, probability: 0.5, closes: '2026-11-01' }),
    deal('soon', { value: 40, closes: '2026-12-01', idleDays: 31 }),
    deal('unknown', { closes: '2026-12-02' }),
  ];
  const { open, overdue, closing, stalled } = figuresOf(deals, deadlines);
  expect(open).toEqual({
    count: 3,
    value: { USD: 140 },
    weightedValue: { USD: 50 },
    withoutAmount: 1,
  });
  expect([overdue, closing, stalled]).toEqual([
    { count: 1, value: { USD: 100 } },
    { count: 2, value: { USD: 40 } },
    { count: 1, value: { USD: 40 } },
  ]);
});

describe('a forecast against a target', () => {
  const deals = [
    deal('a', { value: 100, probability: 0.75 }),
    deal('b', { value: 200, probability: 0.5 }),
    deal('c', { value: 50, probability: 0.9, currency: 'CAD' }),
    deal('d', { value: 20 }),
  ];

  test('has what is committed, the weighted rest, the gap and the coverage, in one currency', () => {
    const forecast = forecastOf(deals, { won: 300, target: 1_000, currency: 'USD' });
    expect(forecast).toMatchObject({ commit: 100, weightedRest: 100, gap: 500 });
    expect(forecast.coverage).toBeCloseTo(320 / 700);
  });

  test('has no gap without a target, and no coverage of what is won', () => {
    const options = { won: 300, currency: 'USD' };
    expect(forecastOf(deals, { ...options, target: undefined }).gap).toBeUndefined();
    expect(forecastOf(deals, { ...options, target: 300 }).coverage).toBeUndefined();
  });

  test('is of a calendar month or quarter', () => {
    expect(periodOf('2026-11-22', 'month')).toEqual({ from: '2026-11-01', to: '2026-11-30' });
    expect(periodOf('2026-11-22', 'quarter')).toEqual({ from: '2026-10-01', to: '2026-12-31' });
    expect(periodOf('2028-02-29', 'month')).toEqual({ from: '2028-02-01', to: '2028-02-29' });
  });
});

describe('the view over quotes', () => {
  const today = '2026-11-22';

  test('counts days of quotes that wait for an answer only', () => {
    const sent = { acceptance: 'open to acceptance', sent: '2026-11-12', expires: '2026-12-02' };
    const late = { acceptance: 'past expiry', sent: '2026-10-23', expires: '2026-11-21' };
    const won = { acceptance: 'accepted', sent: '2026-10-23', expires: '2026-11-21' };
    const draft = { status: 'draft', expires: '2026-12-02' };
    const days = [sent, late, won, draft].map((row) => [
      daysWaiting(row as never, today),
      daysLeft(row as never, today),
    ]);
    expect(days).toEqual([
      [10, 10],
      [30, -1],
      [undefined, undefined],
      [undefined, 10],
    ]);
  });

  test('calls a state what salespeople call it, and keeps a status of the tenant', () => {
    const names = [
      { status: 'sent', acceptance: 'open to acceptance' as const },
      { status: 'sent', acceptance: 'past expiry' as const },
      { status: 'approved', acceptance: 'accepted' as const },
      { status: 'in legal review', acceptance: 'other' as const },
      { status: 'draft' },
    ];
    expect(names.map(stateOf)).toEqual(['Sent', 'Expired', 'Approved', 'In legal review', 'Draft']);
  });
});

test('deals to talk about: what went wrong first, then what was won, five at most', () => {
  const moved = (id: string, ...movement: MovedDeal['movement']): MovedDeal => ({ id, movement });
  const rows = [
    moved('new', 'new'),
    moved('won', 'won'),
    moved('slipped', 'slipped', 'stageForward'),
    moved('lost', 'lost'),
    moved('forward', 'stageForward'),
    moved('in', 'pulledIn'),
  ];
  const ids = dealsToTalkAbout(rows).map(({ id }) => id);
  expect(ids).toEqual(['slipped', 'lost', 'won', 'new', 'forward']);
});

test.each([
  [{}, ['Before', 'Stored']],
  [{ unchecked: true }, ['Before', 'Sent']],
  [{ outcome: 'declined' }, ['Is', 'Would be']],
])('a change that ended as %j does not say more than is known', (more, columns) => {
  const changes = [{ field: 'name', from: 'a', to: 'b' }];
  const [table] = answeredTables(
    changeOf({ structuredContent: { outcome: 'written', changes, ...more } }),
  );
  expect(table?.columns).toEqual(columns);
});

test('two quotes differ in lines that were added, removed, re-priced or changed', () => {
  const line = (at: number, mpn: string, quantity: number, price: number, term = 'one-time') => ({
    ...{ line: at, mpn, term, quantity, price },
    total: quantity * price,
  });
  const before = [line(1, 'A', 1, 10), line(2, 'B', 2, 5), line(3, 'C', 1, 7), line(4, 'D', 1, 1)];
  const after = [
    ...[line(1, 'a', 1, 10), line(2, 'B', 3, 5), line(3, 'C', 1, 8)],
    ...[line(4, 'D', 1, 1, 'monthly'), line(5, 'A', 1, 10)],
  ];
  const found = comparedLines(before, after).map(({ name, difference }) => `${name} ${difference}`);
  expect(found).toEqual(['B Changed', 'C Re-priced', 'D Removed', 'D Added', 'A Added', 'a Same']);
  const [discounted] = comparedLines(before, [{ ...line(1, 'A', 1, 10), discount: 5, total: 9.5 }]);
  expect(discounted?.difference).toBe('Re-priced');
});

test('a quote without costs tells of no finding what it would reveal of a cost', () => {
  const finding = (code: string) => ({ code, severity: 'check', line: 1, why: `Why ${code}` });
  const hidden = [
    ...['missing_cost', 'price_under_cost', 'negative_margin', 'setup_cost_without_price'],
  ];
  const rows = [...hidden, 'missing_price'].map(finding);
  const line = { line: 1, price: 9, cost: 7, margin: 22.2, setupPrice: 3, setupCost: 2 };
  const answer = { lines: { rows: [line] }, setup: {}, terms: [], preflight: { rows } };
  const shown = withoutCosts(answer as unknown as Parameters<typeof withoutCosts>[0]);
  expect(shown.preflight.rows.flatMap(({ why }) => why ?? [])).toEqual(['Why missing_price']);
  expect(shown.lines.rows).toEqual([{ line: 1, price: 9, setupPrice: 3 }]);
});

describe('the lines of a quote', () => {
  const line = (at: number, term: string, total: number, setupPrice?: number) => ({
    line: at,
    term,
    total,
    ...(setupPrice !== undefined && { setupPrice }),
  });
  const quote = {
    lines: {
      shown: 3,
      total: 3,
      rows: [line(1, 'one-time', 100), line(2, 'monthly', 20, 50), line(3, 'one-time', 30)],
    },
    terms: ['one-time', 'monthly'],
    totals: { oneTime: 162, monthly: 18 },
    discount: { percent: 10 },
  };

  test('are numbered as shown, with the setup as a line, and add up', () => {
    const sections = termSections(quote);
    expect(
      sections.map(({ lines }) => lines.map(({ shownAt, total }) => [shownAt, total])),
    ).toEqual([
      [
        [1, 100],
        [2, 30],
        [3, 50],
      ],
      [[4, 20]],
    ]);
    expect(sections.map(({ adjustments }) => adjustments)).toEqual([
      [{ kind: 'discount', amount: -18 }],
      [{ kind: 'discount', amount: -2 }],
    ]);
  });

  test('have no discount by amount where nothing is due once', () => {
    const rows = [line(1, 'one-time', 100), line(2, 'monthly', 9.05), line(3, 'monthly', 9.05)];
    const totals = { oneTime: 90, monthly: 18.09 };
    const lines = { shown: 3, total: 3, rows };
    const sections = termSections({ ...quote, lines, totals, discount: { amount: 10 } });
    expect(sections.map(({ adjustments }) => adjustments)).toEqual([
      [{ kind: 'discount', amount: -10 }],
      [{ kind: 'rounding', amount: -0.01 }],
    ]);
  });

  test('of a term of its own have its total', () => {
    const rows = [line(1, 'quarter', 100), line(2, 'quarter', 30)];
    const quarterly = { shown: 2, total: 2, rows };
    const totals = { otherTerms: { quarter: 117 } };
    const [section] = termSections({ ...quote, lines: quarterly, terms: ['quarter'], totals });
    expect(section).toMatchObject({ total: 117, adjustments: [{ kind: 'discount', amount: -13 }] });
  });

  test('say that some are missing instead of a discount that cannot be told', () => {
    const cut = { ...quote, lines: { ...quote.lines, total: 9 } };
    expect(termSections(cut).map(({ adjustments }) => adjustments)).toEqual([
      [{ kind: 'omitted' }],
      [{ kind: 'omitted' }],
    ]);
  });
});

describe('a change', () => {
  const text = (words: string) => ({ content: [{ type: 'text', text: words }] });

  test.each([
    [{ outcome: 'written' }, 'Written', 'Verified'],
    [{ outcome: 'written', unchecked: true }, 'Written', 'Not read back'],
    [{ outcome: 'not_written' }, 'Nothing was written', 'Failed'],
    [{ outcome: 'cannot_tell' }, 'It is not known whether it was written', 'Unknown'],
    [{ outcome: 'no_change' }, 'Nothing was written', 'Already so'],
    [{ outcome: 'refused' }, 'This answer does not count', 'Refused'],
    [{ outcome: 'moved' }, 'Nothing was written', 'Changed meanwhile'],
    [{ outcome: 'written', differs: [{}] }, 'Written, but not as agreed', 'Stored differently'],
  ])('that ended as %j', (structuredContent, title, badge) => {
    expect(endingOf(changeOf({ structuredContent }).answer)).toMatchObject({ title, badge });
  });

  test.each([
    ['Done.\noutcome: written', 'Written'],
    ['Nothing was written. The stage is not allowed.', 'Nothing was written'],
    ['A fault', 'It is not known whether it was written'],
    ['Done.\noutcome: of a later version', 'It is not known whether it was written'],
  ])('of which only the text is passed on: %j', (words, title) => {
    expect(endingOf(changeOf(text(words)).answer).title).toBe(title);
  });

  test.each([
    [{ outcome: 'not_asked', preview: ['?'] }, true],
    [{ outcome: 'not_asked', preview: ['?'], confirm: 'token' }, false],
    [{ outcome: 'not_asked' }, false],
    [{ outcome: 'declined' }, false],
  ])('cannot be decided without metadata: %j', (structuredContent, expected) => {
    expect(isUndecidable(changeOf({ structuredContent }))).toBe(expected);
  });

  test.each([
    [undefined],
    ['text'],
    [{ secret: 's', expiresAt: 'soon', question: '?' }],
    [{ secret: 1, expiresAt: '2026-11-23T12:00:00Z', question: '?' }],
  ])('has no question in metadata of another form: %j', (asked) => {
    expect(changeOf({ _meta: { 'cpq-mcp/consent': asked } }).question).toBeUndefined();
  });

  test('is shown by labels, with numbers as the question writes them', () => {
    const changes = [
      { field: 'onetime_revenue', from: 12000, to: 1234567.125 },
      { field: 'probability', from: 0.3, to: 1 / 3 },
      { field: 'value_months', from: '(empty)', to: 1200 },
      { field: 'madeUp', from: 'a', to: 'b' },
    ];
    const [table] = answeredTables(
      changeOf({ structuredContent: { outcome: 'written', changes } }),
    );
    expect(table?.rows).toEqual([
      { label: 'One-time revenue', before: '12,000.00', after: '1,234,567.125' },
      { label: 'Probability', before: '30 %', after: '33.3333 %' },
      { label: 'Value months', before: '(empty)', after: '1,200' },
      { label: 'madeUp', before: 'a', after: 'b' },
    ]);
  });

  test('that is stored differently is not also shown as agreed', () => {
    const change = (field: string, label: string) => ({ field, label, from: 'a', to: 'b' });
    const changes = [change('name', 'Name'), change('owner', 'Owner')];
    const differs = ['owner', 'stage'].map((field) => ({ field, intended: 'b', stored: 'c' }));
    const result = { structuredContent: { outcome: 'written', changes, differs } };
    const agreed = { what: 'change', changes } as unknown as Parameters<typeof changeOf>[1];
    for (const data of [changeOf(result), changeOf(result, agreed)])
      expect(
        answeredTables(data).map(({ title, rows }) => [
          title,
          ...rows.map(({ label, remark }) => [label, remark]),
        ]),
      ).toEqual([
        [
          'Not as agreed',
          ['Owner', 'Stored differently.'],
          ['Stage', 'Changed without being asked for.'],
        ],
        ['As agreed', ['Name', undefined]],
      ]);
  });

  test('marks what differs in long texts, and nothing in short ones', () => {
    const ten = 'one two three four five six seven eight nine ten';
    const changed = (before: string, after: string) =>
      [partsOf(before, after), partsOf(after, before)].map((parts) =>
        parts.filter(({ isChanged }) => isChanged).map((part) => part.text),
      );
    expect(changed(`“${ten} old words”`, `“${ten} new words”`)).toEqual([['old '], ['new ']]);
    expect(changed(`“${ten} old words” (3 invisible characters)`, `“${ten} words here”`)).toEqual([
      ['old words”'],
      ['words here”'],
    ]);
    expect(changed(`“${ten} so it stays”`, `“${ten} it stays”`)).toEqual([['so '], []]);
    expect(changed('“old words”', '“new words”')).toEqual([[], []]);
  });
});

test('no character of a changed text is lost, but for isolates', () => {
  const words = fc.array(fc.constantFrom('a', 'b”', '“c', '⏎', '(1 invisible)', '\u2068ש\u2069'), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(words, words, (one, other) => {
      const [before, after] = [one.join(' '), other.join(' ')];
      const shown = partsOf(before, after).map((part) => part.text);
      expect(shown.join('').replaceAll('\n', ' ')).toBe(before.replace(/[\u2068\u2069]/g, ''));
    }),
  );
});
