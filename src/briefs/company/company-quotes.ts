/** The quotes of one company: totals by status, and the quotes to look at first. */

import { type Day, dayOf } from '../../figures/days.ts';
import { type CurrencyOf, currencyOfRecord } from '../../figures/money.ts';
import {
  byName,
  compact,
  compare,
  groupBy,
  limitList,
  nonBlank,
  nonZero,
  quoteName,
} from '../../figures/naming.ts';
import { isOpenQuote, type QuoteState, stateFields } from '../../figures/quote-state.ts';
import { quoteTotals, sumQuotes } from '../../figures/quote-totals.ts';
import type { Quote } from '../../service/records/records.ts';

interface Options {
  today: Day;
  currencyOf: CurrencyOf;
  maxRows: number;
}

const statusOrder = ['draft', 'sent', 'approved', 'declined', 'expired'];

type StatusKey = QuoteState & { currency: string };

function byStatusOrder(a: StatusKey, b: StatusKey): number {
  const at = ({ status }: StatusKey): number => [...statusOrder, status].indexOf(status);
  return (
    at(a) - at(b) ||
    compare(a.status, b.status) ||
    compare(a.acceptance ?? '', b.acceptance ?? '') ||
    compare(a.currency, b.currency)
  );
}

/** Open quotes first, then by the day of creation, newest first, then by name and id. */
export function quotesOfCompany(quotes: readonly Quote[], options: Options) {
  const isOpen = (quote: Quote): number => Number(isOpenQuote(quote, options.today));
  const sorted = quotes.toSorted(
    (a, b) =>
      isOpen(b) - isOpen(a) ||
      compare(dayOf(b.createdAt) ?? '', dayOf(a.createdAt) ?? '') ||
      byName(compact({ id: a.id, name: quoteName(a) }), compact({ id: b.id, name: quoteName(b) })),
  );
  return {
    byStatus: quotesByStatus(quotes, options),
    ...limitList(sorted, options.maxRows, (quote) => toQuoteRow(quote, options)),
  };
}

function toQuoteRow(quote: Quote, { today, currencyOf }: Options) {
  return compact({
    id: nonBlank(quote.id),
    number: nonBlank(quote.number),
    name: nonBlank(quote.title) ?? nonBlank(quote.name),
    ...stateFields(quote, today),
    currency: currencyOfRecord(quote, currencyOf),
    ...quoteTotals(quote),
    created: dayOf(quote.createdAt),
    expires: dayOf(quote.expiresAt),
  });
}

/** By status, acceptance and currency; amounts after discounts. */
function quotesByStatus(quotes: readonly Quote[], { today, currencyOf }: Options) {
  const keyOf = (quote: Quote): StatusKey => ({
    ...stateFields(quote, today),
    currency: currencyOfRecord(quote, currencyOf),
  });
  const groups = groupBy(quotes, (quote) => JSON.stringify(keyOf(quote)));
  const rows = [...groups.values()].map((group) => {
    const { totals, unknownPrices, unknownItems } = sumQuotes(group);
    return compact({
      ...keyOf(group[0]),
      count: group.length,
      ...totals,
      unknownPrices: nonZero(unknownPrices),
      unknownItems: nonZero(unknownItems),
    });
  });
  return rows.sort(byStatusOrder);
}
