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
import { isOpenQuote, type QuoteState, stateFields } from '../../figures/quote-state.ts';
import { type QuoteTotals, quoteTotals, sumQuotes } from '../../figures/quote-totals.ts';
import type { TermTotals } from '../../figures/terms.ts';
import type { Quote } from '../../service/records/records.ts';

/** Quotes of one status, acceptance and currency; amounts after discounts. */
interface QuotesOfStatus extends QuoteState, TermTotals {
  currency: string;
  count: number;
  unknownPrices?: number;
  /** Quotes whose items could not be read: not in the totals. */
  unknownItems?: number;
}

interface QuoteRow extends Named, QuoteState, QuoteTotals {
  number?: string;
  currency: string;
  created?: Day;
  expires?: Day;
}

export interface QuotesOfCompany extends LimitedList<QuoteRow> {
  byStatus: QuotesOfStatus[];
}

interface Options {
  today: Day;
  currencyOf: CurrencyOf;
  maxRows: number;
}

const statusOrder = ['draft', 'sent', 'approved', 'declined', 'expired'];

function byStatusOrder(a: QuotesOfStatus, b: QuotesOfStatus): number {
  const at = ({ status }: QuotesOfStatus): number => [...statusOrder, status].indexOf(status);
  return (
    at(a) - at(b) ||
    compare(a.status, b.status) ||
    compare(a.acceptance ?? '', b.acceptance ?? '') ||
    compare(a.currency, b.currency)
  );
}

/** Open quotes first, then by the day of creation, newest first, then by name and id. */
export function quotesOfCompany(quotes: readonly Quote[], options: Options): QuotesOfCompany {
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

function toQuoteRow(quote: Quote, { today, currencyOf }: Options): QuoteRow {
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

function quotesByStatus(
  quotes: readonly Quote[],
  { today, currencyOf }: Options,
): QuotesOfStatus[] {
  const keyOf = (quote: Quote) => ({
    ...stateFields(quote, today),
    currency: currencyOfRecord(quote, currencyOf),
  });
  const groups = groupBy(quotes, (quote) => JSON.stringify(keyOf(quote)));
  const rows = [...groups.values()].map((group): QuotesOfStatus => {
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
