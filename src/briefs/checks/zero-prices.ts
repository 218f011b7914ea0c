/** The check of prices of 0: in the catalogue, in pricing books and on open quotes. */

import { type Decimal, decimal, perUnit } from '../../figures/money.ts';
import { named, nonBlank } from '../../figures/naming.ts';
import { isUnanswered } from '../../figures/quote-state.ts';
import { filterSteps, flatMapSteps, recordsById, type Steps } from '../../figures/steps.ts';
import { quote as quoteText, wording } from '../../text/untrusted-text.ts';
import { validEntries } from '../prices/books.ts';
import type { Check, CheckContext, CheckData, RawFinding } from './check.ts';
import { isListed, productFinding } from './products.ts';
import { describeLines, quoteContextOf, quoteFinding } from './quotes.ts';

interface Part {
  examined: number;
  findings: RawFinding[];
}

export const zeroPrices: Check = {
  needs: ['product'],
  wants: ['pricing_book', 'quote', 'opportunity'],
  about: ['product', 'pricing_book', 'quote'],
  unit: 'record',
  parts: 'lines',
  needsItems: isUnanswered,
  define: ({ today }) =>
    `Prices of exactly 0: listed products, prices in pricing books valid on ${today}, and draft and sent quotes with lines at 0. A missing price is not 0.`,
  *examine(data, context) {
    const parts = [
      yield* inCatalogue(data),
      yield* inBooks(data, context),
      yield* onQuotes(data, context),
    ];
    return {
      findings: parts.flatMap(({ findings }) => findings),
      examined: parts.reduce((sum, { examined }) => sum + examined, 0),
      of: 'listed products, valid book prices, draft and sent quotes',
      notChecked: {},
    };
  },
};

const isZero = (price: number | undefined): boolean => decimal(price)?.eq(0) ?? false;

function* inCatalogue({ product = [] }: CheckData): Steps<Part> {
  const listed = yield* filterSteps(product, isListed);
  const findings = yield* flatMapSteps(listed, (entry): RawFinding[] => {
    if (!isZero(entry.price)) return [];
    const { currency: _currency, kinds, ...finding } = productFinding(entry);
    const cost = decimal(entry.cost);
    return [
      { ...finding, kinds: { where: 'product', ...kinds }, reason: () => describeProduct(cost) },
    ];
  });
  return { examined: listed.length, findings };
}

const describeProduct = (cost: Decimal | undefined) =>
  cost ? wording`catalogue price 0, cost ${perUnit(cost)}` : wording`catalogue price 0`;

function* inBooks(
  { pricing_book = [], product = [] }: CheckData,
  { today }: CheckContext,
): Steps<Part> {
  const entries = yield* flatMapSteps(pricing_book, (book) => validEntries(book, today));
  const free = entries.filter(({ price }) => price?.eq(0));
  const names = yield* recordsById(product);
  const findings = free.map(({ book, productId }): RawFinding => {
    const about = names.get(productId) ?? { id: productId };
    return {
      ...named(about),
      resource: 'pricing_book',
      kinds: { where: 'book price' },
      reason: () => wording`price 0 in pricing book ${quoteText(book.name ?? book.id ?? '')}`,
      related: [named(book)],
    };
  });
  return { examined: entries.length, findings };
}

function* onQuotes(data: CheckData, context: CheckContext): Steps<Part> {
  const open = yield* filterSteps(data.quote ?? [], isUnanswered);
  const quoteContext = yield* quoteContextOf(context, data);
  const findings = yield* flatMapSteps(open, (each): RawFinding[] => {
    const free = (each.items ?? []).filter(({ price }) => isZero(price));
    if (free.length === 0) return [];
    const { currency: _currency, kinds, ...finding } = quoteFinding(each, quoteContext, undefined);
    const reason = () => wording`price 0 in ${describeLines(free, nonBlank(free[0]?.name))}`;
    return [{ ...finding, kinds: { where: 'quote', ...kinds }, parts: free.length, reason }];
  });
  return { examined: open.length, findings };
}
