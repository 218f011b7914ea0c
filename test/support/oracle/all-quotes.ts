import { Big } from 'big.js';
import { bigSumsBy, percentages, rounded, roundedAll, roundedOr, sumsBy } from './decimal.ts';
import { byName, compare, counts, descending, grouped, only } from './order.ts';
import {
  acceptanceOf,
  amountOff,
  dealStateOf,
  defaultTerms,
  firstYearOf,
  grossOf,
  judgedOf,
  type Line,
  lineOf,
  netOf,
  type Quote,
  statusOf,
  titled,
  totalsOf,
} from './quotes.ts';

/** The filters of the brief on all quotes, names of owners and companies as ids. */
export interface Filters {
  owner?: string;
  company?: string;
  status?: string;
  currency?: string;
  acceptance?: string;
  deal_state?: string;
  date?: 'created' | 'sent' | 'approved' | 'declined' | 'expires';
  date_from?: string;
  date_to?: string;
  item?: string;
  show?: readonly string[];
  sort?: string;
}

type Figures = Record<string, unknown>;

/** The text with its own blanks, or without them from the beginning of a word. */
function occursIn(text: string, hay = ''): boolean {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const asWritten = words.join('[^a-z0-9]+');
  const fromWord = `(^|[^a-z0-9])${[...words.join('')].join('[^a-z0-9]*')}`;
  return new RegExp(`${asWritten}|${fromWord}`).test(hay.toLowerCase());
}

function fits(quote: Quote, filters: Filters): boolean {
  const { date = 'sent', date_from: first, date_to: last, item } = filters;
  const day = quote[date];
  const inPeriod =
    (!first && !last) || (day !== undefined && (!first || day >= first) && (!last || day <= last));
  const hasItem =
    item === undefined ||
    (/none/i.test(item)
      ? quote.lines.length === 0
      : quote.lines.some((line) =>
          [line.name, line.mpn, line.manufacturer].some((it) => occursIn(item, it)),
        ));
  const same = (wanted: string | undefined, has: string | undefined) =>
    wanted === undefined || wanted === has;
  return (
    quote.statusCategory !== 'deleted' &&
    same(filters.owner, quote.ownerId) &&
    same(filters.company, quote.companyId) &&
    same(filters.status, statusOf(quote)) &&
    same(filters.currency, quote.currency) &&
    same(filters.acceptance, acceptanceOf(quote)) &&
    same(filters.deal_state, dealStateOf(quote)) &&
    inPeriod &&
    hasItem
  );
}

function figuresOf(quotes: readonly Quote[]): Figures {
  const of = (term: string) => sumsBy(quotes, (quote) => netOf(quote).get(term));
  return only({
    count: quotes.length,
    oneTime: of('one-time'),
    monthly: of('monthly'),
    yearly: of('yearly'),
    firstYearValue: sumsBy(quotes, (quote) => firstYearOf(netOf(quote))),
  });
}

/** The figures that were asked for. */
function shownOf(quotes: readonly Quote[], { show = [] }: Filters): Figures {
  return only({
    ...(show.includes('approval') && approvalOf(quotes)),
    ...(show.includes('days') && {
      daysToSend: spreadOf(quotes, 'created', 'sent'),
      daysToApprove: spreadOf(quotes, 'sent', 'approved'),
    }),
    ...(show.includes('discount') &&
      Object.assign({}, ...Object.entries(termNames).map((it) => discountOf(quotes, ...it)))),
  });
}

const termNames = { oneTime: 'one-time', monthly: 'monthly', yearly: 'yearly' };

function approvalOf(quotes: readonly Quote[]): Figures {
  const number = (state: string) => quotes.filter((it) => acceptanceOf(it) === state).length;
  const [approved, declined] = [number('accepted'), number('declined')];
  const decided = approved + declined;
  return {
    approved,
    declined,
    expired: number('past expiry'),
    approvalRatePercent:
      decided === 0 ? undefined : rounded(new Big(approved).times(100).div(decided), 1),
  };
}

function spreadOf(quotes: readonly Quote[], from: 'created' | 'sent', to: 'sent' | 'approved') {
  const days = quotes
    .flatMap(({ [from]: first, [to]: last }) =>
      first && last ? Math.max(0, (Date.parse(last) - Date.parse(first)) / 86_400_000) : [],
    )
    .sort((one, other) => one - other);
  const n = days.length;
  if (n === 0) return undefined;
  const middle = (days[Math.floor((n - 1) / 2)] ?? 0) + (days[Math.floor(n / 2)] ?? 0);
  const sum = days.reduce((all, it) => all + it, 0);
  return { median: middle / 2, mean: rounded(new Big(sum).div(n), 1), n };
}

function discountOf(quotes: readonly Quote[], name: string, term: string): Figures {
  const listOf = (quote: Quote) =>
    grossOf({ ...quote, lines: quote.lines.map(undiscounted) }).get(term);
  const lists = bigSumsBy(quotes, listOf);
  const discounts = bigSumsBy(quotes, (quote) => {
    const [list, net] = [listOf(quote), netOf(quote).get(term)];
    return list || net ? (list ?? new Big(0)).minus(net ?? 0) : undefined;
  });
  const comparable = (quote: Quote) => {
    const { price, cost } = judgedOf(quote, term);
    return price && cost && { price, cost };
  };
  const prices = bigSumsBy(quotes, (quote) => comparable(quote)?.price);
  const costs = bigSumsBy(quotes, (quote) => comparable(quote)?.cost);
  const profits = [...prices].map(([it, price]) => [it, price.minus(costs.get(it) ?? 0)] as const);
  return {
    [`${name}List`]: roundedAll(lists),
    [`${name}Discount`]: roundedAll(discounts),
    [`${name}DiscountPercent`]: percentages(discounts, lists),
    [`${name}MarginPercent`]: percentages(new Map(profits), prices),
  };
}

const undiscounted = (line: Line): Line => ({
  ...line,
  total: line.price?.times(line.quantity ?? 1),
});

/** The quotes of a group by category or product have the lines of it only; what an amount takes off a quote is a group. */
function partsOf(quote: Quote, by: string): { key: string; name: string; quote: Quote }[] {
  const labelled = (line: Line) =>
    by === 'category'
      ? refOf(line.categoryId, line.categoryName, 'no category')
      : refOf(line.productId, line.name, line.name ?? 'no product');
  const off = amountOff(quote);
  const { discountAmount: _, ...others } = quote;
  const whole: Quote = off ? { ...others, discountAmount: undefined } : quote;
  const parts = [...grouped(quote.lines, (line) => labelled(line).key)].map(([key, lines]) => ({
    key,
    name: lines[0] ? labelled(lines[0]).name : '',
    quote: { ...whole, lines },
  }));
  if (!off || grossOf(quote).size === 0) return parts;
  const name = 'taken off whole quotes';
  const credit = { ...lineOf({ spokenTerm: 'one-time' }, 0), total: off.times(-1) };
  return [...parts, { key: name, name, quote: { ...whole, lines: [credit] } }];
}

const refOf = (id: string | undefined, name: string | undefined, what: string) => ({
  key: id ?? what,
  name: name ?? id ?? what,
});

function groupOf(quote: Quote, by: string, date: Filters['date'] = 'sent') {
  const plain = (name: string) => ({ key: name, name });
  if (by === 'owner') return refOf(quote.ownerId, quote.ownerName, 'no owner');
  if (by === 'company') return refOf(quote.companyId, quote.companyName, 'no company');
  if (by === 'month') return plain(quote[date]?.slice(0, 7) ?? `no ${date} date`);
  const age = quote.daysOld;
  if (by === 'age')
    return plain(age === undefined ? 'no age' : bandOf(age, [8, 31, 61, 91], ' days'));
  if (by === 'value') {
    const worth = firstYearOf(netOf(quote))?.toNumber();
    return plain(worth === undefined ? 'no value' : bandOf(worth, [1000, 10_000, 25_000, 100_000]));
  }
  if (by === 'currency') return plain(quote.currency);
  if (by === 'acceptance') return plain(acceptanceOf(quote));
  return plain(by === 'status' ? statusOf(quote) : dealStateOf(quote));
}

/** The band of a number by docs/definitions.md. */
function bandOf(number: number | undefined, limits: readonly number[], unit = ''): string {
  const [low, high] = [
    limits.findLast((it) => (number ?? 0) >= it),
    limits.find((it) => (number ?? 0) < it),
  ];
  const word = (it = 0) => `${it.toLocaleString('en-US')}${unit}`;
  if (low === undefined) return `under ${word(high)}`;
  return high === undefined ? `${word(low)} and more` : `${word(low)} to under ${word(high)}`;
}

/** Deleted quotes of the owner and the company. */
const deletedOf = (all: readonly Quote[], { owner, company }: Filters): number =>
  all.filter(
    ({ statusCategory, ownerId, companyId }) =>
      statusCategory === 'deleted' &&
      (owner ?? ownerId) === ownerId &&
      (company ?? companyId) === companyId,
  ).length;

/** The expected brief of all quotes, with all groups, unsorted. */
export function expectedQuotes(all: readonly Quote[], by: string, filters: Filters): Figures {
  const quotes = all.filter((quote) => fits(quote, filters));
  const ofLines = by === 'category' || by === 'product';
  const labelled = ofLines
    ? quotes.flatMap((quote) => partsOf(quote, by))
    : quotes.map((quote) => ({ ...groupOf(quote, by, filters.date), quote }));
  const groups = grouped(labelled, ({ key }) => key);
  const amounts = (its: readonly Quote[]) =>
    filters.show ? { count: its.length, ...shownOf(its, filters) } : figuresOf(its);
  const worthOf = (quote: Quote): Big | undefined => firstYearOf(netOf(quote));
  const hasOther = (quote: Quote) =>
    [...netOf(quote).keys()].some((term) => !defaultTerms.includes(term));
  const firsts = [...groups.values()].flatMap((its) => its.slice(0, 1));
  const names = firsts.map(({ name }) => name.toLowerCase());
  const isShared = (name: string) => names.filter((it) => it === name.toLowerCase()).length > 1;
  const states = grouped(quotes, acceptanceOf);
  const place = (quote: Quote) => placeOf(quote, filters.sort);
  const rows = [...quotes].sort(
    (one, other) =>
      compare(place(one), place(other)) ||
      descending(worthOf(one), worthOf(other)) ||
      byName(titled(one), titled(other)),
  );
  const number = (fit: (quote: Quote) => unknown) => quotes.filter(fit).length;
  return only({
    total: { ...figuresOf(quotes), ...shownOf(quotes, filters) },
    unknown: counts({
      firstYearValue: number((quote) => !worthOf(quote)),
      prices: number((quote) => totalsOf(quote).unknownPrices),
      currency: number(({ currency }) => currency === 'unknown currency'),
    }),
    ...counts({ otherTerms: number(hasOther) }),
    acceptance: Object.fromEntries(
      [...states].map(([state, its]) => {
        const { count, firstYearValue } = figuresOf(its);
        const deals = state === 'open to acceptance' ? dealsOf(its) : undefined;
        return [state, only({ count, firstYearValue, deals })];
      }),
    ),
    groups: Object.fromEntries(
      [...groups.values()].map((its) => {
        const [first] = its;
        const { key = '', name = '' } = first ?? {};
        return [isShared(name) ? key : name, amounts(its.map(({ quote }) => quote))];
      }),
    ),
    ...counts({ deleted: deletedOf(all, filters) }),
    rows: rows.map((quote) =>
      only({
        id: quote.id,
        number: quote.number,
        company: quote.companyName,
        owner: quote.ownerName,
        status: statusOf(quote),
        dealState: dealStateOf(quote),
        currency: quote.currency,
        firstYearValue: roundedOr(worthOf(quote)),
        sent: quote.sent,
        approved: quote.approved,
        expires: quote.expires,
      }),
    ),
  });
}

const dealsOf = (quotes: readonly Quote[]) =>
  counts(
    Object.fromEntries([...grouped(quotes, dealStateOf)].map(([it, { length }]) => [it, length])),
  );

function placeOf(
  { statusCategory, sent, created, expires, ...quote }: Quote,
  sort?: string,
): string {
  if (sort === 'age') return `${statusCategory === 'sent' ? 0 : 1} ${sent ?? created ?? 'none'}`;
  const state = acceptanceOf({ ...quote, statusCategory, sent, created, expires });
  const isOpen = ['draft', 'open to acceptance'].includes(state);
  return sort === 'expiry' ? `${isOpen ? 0 : 1} ${expires ?? 'none'}` : '';
}
