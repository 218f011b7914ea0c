/** Pre-flight check of a quote before it goes out, and of its lines. Definitions: docs/definitions.md, "Pre-flight". */

import { type Day, dayOf } from '../../figures/days.ts';
import {
  type Decimal,
  decimal,
  givenPercent,
  hundred,
  lessPercent,
  margin,
  percentOf,
  perUnit,
  rounded,
  roundedPercent,
  zero,
} from '../../figures/money.ts';
import { compact, nonBlank } from '../../figures/naming.ts';
import { isAnsweredOrDeleted, statusCategoryOf } from '../../figures/quote-state.ts';
import { lineAmounts, type QuoteDiscount, quoteDiscount } from '../../figures/quote-totals.ts';
import { describeTerm, termOf } from '../../figures/terms.ts';
import type { Product, Quote, QuoteItem } from '../../service/records/records.ts';
import { quote, type Wording, wording } from '../../text/untrusted-text.ts';
import { BookPrices, deviates, type KnownPrice } from '../prices/books.ts';
import {
  type FindingBody,
  mustFix,
  type PreflightFinding,
  type PreflightOptions,
  type PreflightRecords,
  type ResolvedPreflightOptions,
  type Severity,
  toReview,
} from './preflight-finding.ts';
import { quoteFindings } from './preflight-quote.ts';

const preflightDefaults = { discountLimit: 20 };
/** Allowed difference from a pricing book, in percent. */
const bookTolerance = 1;

type Line = ReturnType<typeof toLine>;
type LineCheck = (line: Line) => FindingBody | undefined;

const missingPrice: LineCheck = ({ price }) =>
  price ? undefined : mustFix('missing_price', wording`No price: the line is in no total.`);

const missingCost: LineCheck = ({ cost }) =>
  cost ? undefined : toReview('missing_cost', wording`No cost: the margin of the line is unknown.`);

const missingQuantity: LineCheck = ({ item }) =>
  item.quantity === undefined
    ? toReview('missing_quantity', wording`No quantity: counted as 1.`)
    : undefined;

const badMargin: LineCheck = ({ price, cost, netPrice }) => {
  if (!price || !cost || !netPrice) return undefined;
  if (price.lt(cost)) {
    return mustFix(
      'price_under_cost',
      wording`Price ${perUnit(price)} is under the cost of ${perUnit(cost)}.`,
    );
  }
  const after = wording`After discounts the price is ${perUnit(netPrice)}`;
  if (netPrice.lt(cost))
    return mustFix('negative_margin', wording`${after}, under the cost of ${perUnit(cost)}.`);
  const hasNoMargin = netPrice.eq(cost) && !cost.eq(0);
  return hasNoMargin ? toReview('zero_margin', wording`${after}, equal to the cost.`) : undefined;
};

const badTerm: LineCheck = ({ item, product }) => {
  const term = termOf(item.term);
  if (term === 'other') {
    return toReview(
      'unrecognised_term',
      wording`Term ${quote(item.term ?? '')} is neither once, month nor year: it has a total of its own.`,
    );
  }
  const expected = termOf(product?.term);
  if (!product || term === expected) return undefined;
  return term === 'one-time'
    ? mustFix(
        'missing_term',
        wording`No term, but the catalogue sells it ${describeTerm(product.term)}: it would be charged once.`,
      )
    : toReview(
        'term_differs',
        wording`Sold ${term}, but the catalogue sells it ${describeTerm(product.term)}.`,
      );
};

const deepDiscount: LineCheck = ({ item, quotePercent, options }) => {
  const own = decimal(item.discount);
  if (!own || own.lte(0)) return undefined;
  const combined = hundred.minus(lessPercent(hundred.minus(own), quotePercent));
  if (combined.lte(options.discountLimit)) return undefined;
  const added = quotePercent.eq(0) ? '' : wording`, ${roundedPercent(combined)} % with the quote's`;
  return toReview(
    'discount_over_limit',
    wording`Discount ${givenPercent(own)} %${added}, over the limit of ${options.discountLimit} %.`,
  );
};

const freeSetup: LineCheck = ({ item: { setupCost, setupPrice } }) =>
  setupCost !== undefined && setupCost > 0 && !setupPrice
    ? mustFix(
        'setup_cost_without_price',
        wording`Setup costs ${rounded(zero.plus(setupCost))} and is not charged.`,
      )
    : undefined;

const againstBook: LineCheck = (line) => underBook(line) ?? offBook(line);

/** After all discounts, under every book price that applies. */
const underBook: LineCheck = ({ item, netPrice, prices }) => {
  const lowest = prices.lowestPrice(item.product?.id ?? '');
  if (!netPrice || !lowest || netPrice.gte(lowest.price)) return undefined;
  if (!deviates(netPrice, lowest.price, bookTolerance)) return undefined;
  const why = wording`After discounts the price is ${perUnit(netPrice)}, under the ${describeBook(lowest, netPrice)}.`;
  return toReview('under_book', why);
};

/** "price of 100 in pricing book "Project" (−5 %)". */
function describeBook({ book, price }: KnownPrice, own: Decimal): Wording {
  const away = percentOf(own.minus(price), price);
  const by = away ? wording` (${away.gt(0) ? '+' : ''}${roundedPercent(away)} %)` : '';
  return wording`price of ${perUnit(price)} in pricing book ${quote(book.name ?? book.id ?? '')}${by}`;
}

const offBook: LineCheck = ({ item, price, prices }) => {
  const productId = item.product?.id;
  if (!price || productId === undefined) return undefined;
  const nearest = prices.nearestPrice(productId, price);
  if (!nearest || !deviates(price, nearest.price, bookTolerance)) return undefined;
  const { unitPrice } = lineAmounts(item);
  if (unitPrice && !deviates(unitPrice, nearest.price, bookTolerance)) return undefined;
  const why = wording`Price ${perUnit(price)} differs from the ${describeBook(nearest, price)}.`;
  return toReview('departs_from_book', why);
};

const unlisted: LineCheck = ({ product }) =>
  product?.listed === false
    ? toReview('unlisted_product', wording`The product is no longer listed in the catalogue.`)
    : undefined;

const lineChecks: readonly LineCheck[] = [
  missingPrice,
  missingCost,
  missingQuantity,
  badMargin,
  badTerm,
  deepDiscount,
  freeSetup,
  againstBook,
  unlisted,
];

/** Findings on a quote: `stop` first, then by line, then in the order of the checks. */
export function preflight(
  records: PreflightRecords,
  options: PreflightOptions,
): PreflightFinding[] {
  const resolved: ResolvedPreflightOptions = { ...preflightDefaults, ...compact(options) };
  const findings: PreflightFinding[] = [
    ...quoteFindings(records, resolved),
    ...lineFindings(records, resolved),
  ];
  const severities: readonly Severity[] = ['stop', 'check'];
  return findings.toSorted(
    (a, b) => severities.indexOf(a.severity) - severities.indexOf(b.severity),
  );
}

/** What was looked at, and what could not be, because its record may not be read or is not found. */
export function preflightScope(records: PreflightRecords) {
  const { quote, company, contact, opportunity, books, products } = records;
  const isGoingOut = !isAnsweredOrDeleted(quote);
  const areas: [area: string, isChecked: boolean, isRelevant: boolean][] = [
    ['prices', true, true],
    ['costs', true, true],
    ['discounts', true, true],
    ['currency', true, true],
    ['catalogue', products !== undefined, true],
    ['pricing books', books !== undefined, true],
    ['expiry', true, isGoingOut],
    ['company', company !== undefined, isGoingOut && quote.company !== undefined],
    ['contact', contact !== undefined, isGoingOut && quote.contact !== undefined],
    ['opportunity', opportunity !== undefined, isGoingOut && quote.opportunity !== undefined],
  ];
  const relevant = areas.filter(([, , isRelevant]) => isRelevant);
  const notChecked = relevant.filter(([, isChecked]) => !isChecked).map(([area]) => area);
  return compact({
    checked: relevant.filter(([, isChecked]) => isChecked).map(([area]) => area),
    notChecked: notChecked.length > 0 ? notChecked : undefined,
  });
}

function lineFindings(
  records: PreflightRecords,
  options: ResolvedPreflightOptions,
): PreflightFinding[] {
  const { quote, company, books, products } = records;
  const items = quote.items ?? [];
  const productIds = new Set(items.map(({ product }) => product?.id));
  const catalogue = new Map(
    (products ?? []).filter(({ id }) => productIds.has(id)).map((product) => [product.id, product]),
  );
  const shared = {
    prices: new BookPrices(books ?? [], company, pricingDay(quote, options.today)),
    quotePercent: percentOff(quoteDiscount(quote)),
    options,
  };
  return items.flatMap((item, at) => {
    const product = item.product?.id === undefined ? undefined : catalogue.get(item.product.id);
    const line = toLine(item, product, shared);
    const findings = lineChecks.flatMap((lineCheck) => lineCheck(line) ?? []);
    const where = compact({ line: at + 1, item: nonBlank(item.name) ?? nonBlank(item.mpn) });
    return findings.map(({ code, severity, why }) => ({ code, severity, ...where, why }));
  });
}

/** The day whose pricing books apply: the day the quote was sent, else today. */
function pricingDay(quote: Quote, today: Day): Day {
  return statusCategoryOf(quote) === 'draft' ? today : (dayOf(quote.sentAt) ?? today);
}

const percentOff = (discount: QuoteDiscount | undefined): Decimal =>
  discount?.kind === 'percent' ? discount.percent : zero;

interface SharedByLines {
  prices: BookPrices;
  /** The quote's percentage discount, or 0. */
  quotePercent: Decimal;
  options: ResolvedPreflightOptions;
}

/** The input of the line checks. */
function toLine(item: QuoteItem, product: Product | undefined, shared: SharedByLines) {
  const { unitPrice } = lineAmounts(item);
  return {
    item,
    product,
    price: decimal(item.price),
    cost: decimal(item.cost),
    // Per unit after the line's discount and the percentage of the quote.
    netPrice: unitPrice && lessPercent(unitPrice, shared.quotePercent),
    ...shared,
  };
}

/** Margin in percent of the price after discounts. */
export const lineMargin = (
  price: Decimal | undefined,
  cost: Decimal | undefined,
): number | undefined => {
  const percent = margin(price, cost);
  return percent && roundedPercent(percent);
};
