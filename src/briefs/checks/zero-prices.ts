/** The check of prices of 0: in the catalogue, in pricing books and on open quotes. */

import { decimal, perUnit } from '../../figures/money.ts';
import { named, nonBlank } from '../../figures/naming.ts';
import { isUnanswered } from '../../figures/quote-state.ts';
import { flatMapSteps, recordsById, type Steps } from '../../figures/steps.ts';
import { termKey } from '../../figures/terms.ts';
import { quote as quoteText, wording } from '../../text/untrusted-text.ts';
import { validEntries } from '../prices/books.ts';
import {
  type Check,
  type CheckContext,
  type CheckData,
  type CheckResult,
  examineEach,
  joined,
} from './check.ts';
import { isListed, productFinding } from './products.ts';
import { describeLines, examineQuotes } from './quotes.ts';

export const zeroPrices: Check = {
  needs: ['product'],
  wants: ['pricing_book', 'quote', 'opportunity'],
  about: ['product', 'pricing_book', 'quote'],
  unit: 'record',
  of: 'listed products, valid book prices, draft and sent quotes',
  parts: 'lines',
  needsItems: isUnanswered,
  define: ({ today }) =>
    `Prices of exactly 0: listed products, prices in pricing books valid on ${today}, and draft and sent quotes with lines at 0. A missing price is not 0.`,
  examine: function* (data, context) {
    return joined(
      yield* inCatalogue(data),
      yield* inBooks(data, context),
      yield* onQuotes(data, context),
    );
  },
};

const isZero = (price: number | undefined): boolean => decimal(price)?.eq(0) ?? false;

const inCatalogue = ({ product }: CheckData): Steps<CheckResult> =>
  examineEach(
    product,
    (entry) => {
      if (!isZero(entry.price)) return undefined;
      const cost = decimal(entry.cost);
      const reason = () =>
        wording`catalogue price 0${cost ? wording`, cost ${perUnit(cost)}` : ''}`;
      const kinds = { where: 'product', term: termKey(entry) };
      return { ...productFinding(entry, {}, reason), kinds, currency: undefined };
    },
    isListed,
  );

function* inBooks(
  { pricing_book = [], product = [] }: CheckData,
  { today }: CheckContext,
): Steps<CheckResult> {
  const entries = yield* flatMapSteps(pricing_book, (book) => validEntries(book, today));
  const products = yield* recordsById(product);
  return yield* examineEach(entries, ({ book, productId, price }) => {
    if (!price?.eq(0)) return undefined;
    return {
      ...named(products.get(productId) ?? { id: productId }),
      resource: 'pricing_book',
      kinds: { where: 'book price' },
      reason: () => wording`price 0 in pricing book ${quoteText(book.name ?? book.id ?? '')}`,
      related: [named(book)],
    };
  });
}

const onQuotes = (data: CheckData, context: CheckContext): Steps<CheckResult> =>
  examineQuotes(data, context, ({ items = [] }) => {
    const free = items.filter(({ price }) => isZero(price));
    if (free.length === 0) return undefined;
    const reason = () => wording`price 0 in ${describeLines(free, nonBlank(free[0]?.name))}`;
    const kinds = { where: 'quote' };
    return { kinds, parts: free.length, atStake: undefined, currency: undefined, reason };
  });
