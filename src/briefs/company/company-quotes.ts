/** The quotes of one company: totals by status, and the quotes to look at first. */

import { type Day, dayOf } from '../../figures/days.ts';
import { type CurrencyOf, currencyOfRecord } from '../../figures/money.ts';
import {
  byName,
  compact,
  compare,
  groupBy,
  type LimitedList,
  limitList,
  type Named,
  nonBlank,
  nonZero,
  quoteName,
} from '../../figures/naming.ts';
import { isOpenQuote, statusOfQuote } from '../../figures/outcome.ts';
import {
  type QuoteTotals,
  quoteTotals,
  sumQuotes,
  type TermTotals,
} from '../../figures/quote-totals.ts';
import type { Quote } from '../../service/records/records.ts';

/** Quotes of one status and currency; amounts after discounts. */
interface QuotesOfStatus extends TermTotals {
  status: string;
  currency: string;
  count: number;
  unknownPrices?: number;
  /** Quotes whose items could not be read: not in the totals. */
  unknownItems?: number;
}

interface QuoteRow extends Named, QuoteTotals {
  number?: string;
  status: string;
  currency: string;
  created?: Day;
  expires?: Day;
}

export interface QuotesOfCompany extends LimitedList<QuoteRow> {
  byStatus: QuotesOfStatus[];
}

const statusOrder = ['draft', 'sent', 'approved', 'declined', 'expired'];

function byStatusOrder(a: string, b: string): number {
  const at = (status: string): number =>
    statusOrder.includes(status) ? statusOrder.indexOf(status) : statusOrder.length;
  return at(a) - at(b) || compare(a, b);
}

/** Open quotes first, then by the day of creation, newest first, then by name and id. */
export function quotesOfCompany(
  quotes: readonly Quote[],
  currencyOf: CurrencyOf,
  limit: number,
): QuotesOfCompany {
  const sorted = quotes.toSorted(
    (a, b) =>
      Number(isOpenQuote(b)) - Number(isOpenQuote(a)) ||
      compare(dayOf(b.createdAt) ?? '', dayOf(a.createdAt) ?? '') ||
      byName(compact({ id: a.id, name: quoteName(a) }), compact({ id: b.id, name: quoteName(b) })),
  );
  return {
    byStatus: quotesByStatus(quotes, currencyOf),
    ...limitList(sorted, limit, (quote) => toQuoteRow(quote, currencyOf)),
  };
}

function toQuoteRow(quote: Quote, currencyOf: CurrencyOf): QuoteRow {
  return compact({
    id: nonBlank(quote.id),
    number: nonBlank(quote.number),
    name: nonBlank(quote.title) ?? nonBlank(quote.name),
    status: statusOfQuote(quote),
    currency: currencyOfRecord(quote, currencyOf),
    ...quoteTotals(quote),
    created: dayOf(quote.createdAt),
    expires: dayOf(quote.expiresAt),
  });
}

function quotesByStatus(quotes: readonly Quote[], currencyOf: CurrencyOf): QuotesOfStatus[] {
  const groups = groupBy(
    quotes,
    (quote) => `${currencyOfRecord(quote, currencyOf)}\n${statusOfQuote(quote)}`,
  );
  const rows = [...groups.values()].map((group): QuotesOfStatus => {
    const [first = {}] = group;
    const { totals, unknownPrices, unknownItems } = sumQuotes(group);
    return compact({
      status: statusOfQuote(first),
      currency: currencyOfRecord(first, currencyOf),
      count: group.length,
      ...totals,
      unknownPrices: nonZero(unknownPrices),
      unknownItems: nonZero(unknownItems),
    });
  });
  return rows.sort((a, b) => byStatusOrder(a.status, b.status) || compare(a.currency, b.currency));
}
