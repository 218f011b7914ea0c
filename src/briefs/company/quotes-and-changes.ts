import { type Day, dayOf } from '../../figures/days.ts';
import { type CurrencyOf, currencyOfRecord, rounded } from '../../figures/money.ts';
import {
  byName,
  compact,
  compare,
  contactName,
  groupBy,
  limitList,
  nonBlank,
  nonZero,
  quoteName,
} from '../../figures/naming.ts';
import { outcomeOf, outcomeWord } from '../../figures/outcome.ts';
import { isOpenQuote, stateFields } from '../../figures/quote-state.ts';
import { quoteTotals, sumQuotes } from '../../figures/quote-totals.ts';
import type { Opportunity, Quote, RecordOf } from '../../service/records/records.ts';
import { keysOf } from '../../values.ts';

interface Options {
  today: Day;
  currencyOf: CurrencyOf;
  maxRows: number;
}

/** Open quotes first, then by the day of creation, newest first, then by name and id. */
export function quotesOfCompany(quotes: readonly Quote[], options: Options) {
  const isOpen = (quote: Quote): number => Number(isOpenQuote(quote, options.today));
  const named = ({ id, ...quote }: Quote) => compact({ id, name: quoteName(quote) });
  const sorted = quotes.toSorted(
    (a, b) =>
      isOpen(b) - isOpen(a) ||
      compare(dayOf(b.createdAt) ?? '', dayOf(a.createdAt) ?? '') ||
      byName(named(a), named(b)),
  );
  return {
    byStatus: quotesByStatus(quotes, options),
    ...limitList(sorted, options.maxRows, (quote) => toQuoteRow(quote, options)),
  };
}

const toQuoteRow = (quote: Quote, { today, currencyOf }: Options) =>
  compact({
    id: nonBlank(quote.id),
    number: nonBlank(quote.number),
    name: nonBlank(quote.title) ?? nonBlank(quote.name),
    ...stateFields(quote, today),
    currency: currencyOfRecord(quote, currencyOf),
    ...quoteTotals(quote),
    created: dayOf(quote.createdAt),
    expires: dayOf(quote.expiresAt),
  });

const statusOrder = ['draft', 'sent', 'approved', 'declined', 'expired'];

/** By status, acceptance and currency; amounts after discounts. */
function quotesByStatus(quotes: readonly Quote[], { today, currencyOf }: Options) {
  const keyOf = (quote: Quote) => ({
    ...stateFields(quote, today),
    currency: currencyOfRecord(quote, currencyOf),
  });
  const groups = groupBy(quotes, (quote) => JSON.stringify(keyOf(quote)));
  const rows = [...groups.values()].map((group) => {
    const { totals, firstYear, unknownPrices, unknownItems } = sumQuotes(group);
    return compact({
      ...keyOf(group[0]),
      count: group.length,
      ...totals,
      firstYearValue: firstYear && rounded(firstYear),
      unknownPrices: nonZero(unknownPrices),
      unknownItems: nonZero(unknownItems),
    });
  });
  const at = ({ status }: { status: string }) => [...statusOrder, status].indexOf(status);
  return rows.sort(
    (a, b) =>
      at(a) - at(b) ||
      compare(a.status, b.status) ||
      compare(a.acceptance ?? '', b.acceptance ?? '') ||
      compare(a.currency, b.currency),
  );
}

/** Events by rising importance: of two on one day, the later in this list is reported. */
type TimedEvents = readonly (readonly [what: string, time: string | undefined])[];

const eventsOf = {
  company: (): TimedEvents => [],
  contact: (): TimedEvents => [],
  opportunity: (record: Opportunity): TimedEvents => [
    ['stage changed', record.stageUpdatedAt],
    [closingOf(record), record.closedAt],
  ],
  quote: (record: Quote): TimedEvents => [
    ['sent', record.sentAt],
    ['approved', record.approvedAt],
    ['declined', record.declinedAt],
    ['expired', record.expiredAt],
  ],
};

/** With a closing time it is closed, even where its words say that it is open. */
function closingOf(record: Opportunity): string {
  const outcome = outcomeWord(outcomeOf(record));
  return outcome === 'open' ? 'closed' : outcome;
}

type Account = { readonly [R in keyof typeof eventsOf]: readonly RecordOf[R][] };

/** The newest event of each record over these days, newest first, then by name and id. */
export function recentChanges(account: Account, from: Day, to: Day) {
  const changes = keysOf(eventsOf).flatMap((kind) =>
    account[kind].flatMap((record) => {
      const events: TimedEvents = [['created', record.createdAt], ...eventsOf[kind](record)];
      // "Updated" is the least specific event, so it is reported only if there is no other.
      const newest =
        newestEvent(events, from, to) ?? newestEvent([['updated', record.updatedAt]], from, to);
      const name = kind === 'quote' ? quoteName(record) : contactName(record);
      return newest ? [compact({ ...newest, kind, id: nonBlank(record.id), name })] : [];
    }),
  );
  return changes.sort((a, b) => compare(b.day, a.day) || byName(a, b) || compare(a.kind, b.kind));
}

function newestEvent(events: TimedEvents, from: Day, to: Day) {
  const inPeriod = events.flatMap(([what, time]) => {
    const day = dayOf(time);
    return day && from <= day && day <= to ? [{ day, what }] : [];
  });
  return inPeriod.sort((a, b) => compare(a.day, b.day)).at(-1);
}
