import type { Big } from 'big.js';
import { roundedOr, sumsBy } from './decimal.ts';
import { byName, counts, descending, grouped, only } from './order.ts';
import {
  acceptanceOf,
  dealStateOf,
  defaultTerms,
  firstYearOf,
  netOf,
  type Quote,
  statusOf,
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
    (item === '(none)'
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

const refOf = (id: string | undefined, name: string | undefined, what: string) => ({
  key: id ?? what,
  name: name ?? id ?? what,
});

function groupOf(quote: Quote, by: string, date: Filters['date'] = 'sent') {
  const plain = (name: string) => ({ key: name, name });
  if (by === 'owner') return refOf(quote.ownerId, quote.ownerName, 'no owner');
  if (by === 'company') return refOf(quote.companyId, quote.companyName, 'no company');
  if (by === 'month') return plain(quote[date]?.slice(0, 7) ?? `no ${date} date`);
  if (by === 'currency') return plain(quote.currency);
  if (by === 'acceptance') return plain(acceptanceOf(quote));
  return plain(by === 'status' ? statusOf(quote) : dealStateOf(quote));
}

/** The expected brief of all quotes, with all groups, unsorted. */
export function expectedQuotes(all: readonly Quote[], by: string, filters: Filters): Figures {
  const quotes = all.filter((quote) => fits(quote, filters));
  const groups = grouped(quotes, (quote) => groupOf(quote, by, filters.date).key);
  const worthOf = (quote: Quote): Big | undefined => firstYearOf(netOf(quote));
  const hasOther = (quote: Quote) =>
    [...netOf(quote).keys()].some((term) => !defaultTerms.includes(term));
  const firsts = [...groups.values()].flatMap((its) => its.slice(0, 1));
  const names = firsts.map((quote) => groupOf(quote, by, filters.date).name.toLowerCase());
  const isShared = (name: string) => names.filter((it) => it === name.toLowerCase()).length > 1;
  const states = grouped(quotes, acceptanceOf);
  const rows = [...quotes].sort(
    (one, other) => descending(worthOf(one), worthOf(other)) || byName(titled(one), titled(other)),
  );
  const number = (fit: (quote: Quote) => unknown) => quotes.filter(fit).length;
  return only({
    total: figuresOf(quotes),
    unknown: counts({
      firstYearValue: number((quote) => !worthOf(quote)),
      prices: number((quote) => totalsOf(quote).unknownPrices),
      currency: number(({ currency }) => currency === 'unknown currency'),
    }),
    ...counts({ otherTerms: number(hasOther) }),
    acceptance: Object.fromEntries(
      [...states].map(([state, its]) => {
        const { count, firstYearValue } = figuresOf(its);
        return [state, only({ count, firstYearValue })];
      }),
    ),
    groups: Object.fromEntries(
      [...groups.values()].map((its) => {
        const [first] = its;
        const { key = '', name = '' } = first ? groupOf(first, by, filters.date) : {};
        return [isShared(name) ? key : name, figuresOf(its)];
      }),
    ),
    ...counts({ deleted: all.filter(({ statusCategory }) => statusCategory === 'deleted').length }),
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

const titled = ({ id, name, number }: Quote) => ({ id, name: name ?? number });
