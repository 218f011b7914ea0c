import { type Day, dayOf, daysBetween } from '../../figures/days.ts';
import { dealValue } from '../../figures/deals.ts';
import { compact, nonBlank, nonEmpty, nonZero } from '../../figures/fields.ts';
import { limitList } from '../../figures/lists.ts';
import { decimal, givenPercent, margin, perUnit, rounded } from '../../figures/money.ts';
import { contactName, named, nameOrId, quoteTitle } from '../../figures/naming.ts';
import { deletionOf, outcomeOf } from '../../figures/outcome.ts';
import { acceptanceOf, statusCategoryOf } from '../../figures/quote-state.ts';
import {
  firstYearValue,
  lineAmounts,
  type QuoteSums,
  quoteDiscount,
  quoteTotals,
  sumQuote,
  type TermSums,
} from '../../figures/quote-totals.ts';
import { byTerm, termKey } from '../../figures/terms.ts';
import type { Quote, QuoteItem } from '../../service/records/records.ts';
import {
  currencyOfQuote,
  notChecked,
  type PreflightOptions,
  type PreflightRecords,
  preflight,
} from './preflight.ts';

export interface QuoteOptions extends PreflightOptions {
  /** Lines shown. */
  maxLines: number;
}

export type QuoteBrief = ReturnType<typeof quoteBrief>;
export type QuoteLine = ReturnType<typeof toQuoteLine>;

const maxFindings = 15;

/** Briefs one quote. Definitions: docs/definitions.md, "Quote" and "Pre-flight". */
export function quoteBrief(records: PreflightRecords, options: QuoteOptions) {
  const { quote } = records;
  const { today, maxLines } = options;
  const sums = sumQuote(quote);
  const firstYear = firstYearValue(sums);
  const findings = preflight(records, options);
  const stops = findings.filter(({ severity }) => severity === 'stop').length;
  return compact({
    ...quoteHeading(quote, today),
    ...quoteParties(records, options),
    currency: currencyOfQuote({ ...records, ...options }),
    totals: quoteTotals(quote),
    firstYearValue: firstYear && rounded(firstYear),
    discount: discountFor(quote),
    // Included in the one-time figures.
    setup: nonEmpty(setupFor(sums.setup)),
    // Over the lines and setups of which both price and cost are known, after all discounts.
    terms: [...sums.terms]
      .toSorted(([a], [b]) => byTerm(a, b))
      .map(([term, amounts]) => toTermMargin(term, amounts)),
    lines: limitList((quote.items ?? []).map(toQuoteLine), maxLines),
    // All findings are counted, shown or not.
    preflight: {
      stops,
      checks: findings.length - stops,
      ...compact({ notChecked: notChecked(records) }),
      ...limitList(findings, maxFindings),
    },
  });
}

function quoteHeading(quote: Quote, today: Day) {
  const expires = dayOf(quote.expiresAt);
  const [statusCategory, acceptance] = [statusCategoryOf(quote), acceptanceOf(quote, today)];
  return compact({
    deleted: deletionOf(quote),
    id: nonBlank(quote.id),
    name: quoteTitle(quote),
    number: nonBlank(quote.number),
    status: nonBlank(quote.status),
    link: nonBlank(quote.link),
    statusCategory,
    acceptance:
      statusCategory === 'deleted' || acceptance === statusCategory ? undefined : acceptance,
    created: dayOf(quote.createdAt),
    sent: dayOf(quote.sentAt),
    approved: dayOf(quote.approvedAt),
    declined: dayOf(quote.declinedAt),
    expires,
    expiresInDays: expires === undefined ? undefined : daysBetween(today, expires),
    contract: nonEmpty(contractOf(quote)),
    paymentTerm: nameOrId(quote.paymentTerm),
  });
}

/** The service has units in the singular; one of its own is not changed. */
const unitOf = (amount: number, unit = ''): string =>
  amount !== 1 && /^(day|week|month|year)$/i.test(unit) ? `${unit}s` : unit;

function contractOf(quote: Quote) {
  const { amount, unit } = quote.contractDuration ?? {};
  return compact({
    from: dayOf(quote.contractStartDate),
    to: dayOf(quote.contractEndDate),
    duration: amount === undefined ? undefined : nonBlank(`${amount} ${unitOf(amount, unit)}`),
  });
}

function quoteParties(records: PreflightRecords, options: QuoteOptions) {
  const { quote, company } = records;
  const { contact = {} } = quote;
  return compact({
    company: nonEmpty(named(company ?? quote.company)),
    contact: nonEmpty(compact({ ...named(contact), name: contactName(contact) })),
    owner: nonEmpty(named(quote.owner)),
    opportunity: nonEmpty(opportunityFor(records, options)),
  });
}

/** The record of the opportunity, else what the quote says of it. */
function opportunityFor(records: PreflightRecords, options: QuoteOptions) {
  const { quote, opportunity } = records;
  const value = opportunity && dealValue(opportunity);
  const currency = value && currencyOfQuote({ ...records, ...options, quote: opportunity });
  const isOther = currency !== currencyOfQuote({ ...records, ...options });
  return compact({
    ...named(opportunity ?? quote.opportunity),
    stage: nonBlank(opportunity?.pipelineStage?.name),
    outcome: opportunity && outcomeOf(opportunity),
    value: value && rounded(value),
    currency: isOther ? currency : undefined,
    closes: dayOf(opportunity?.expectedCloseDate),
  });
}

function discountFor(quote: Quote) {
  const discount = quoteDiscount(quote);
  if (discount?.kind === 'percent') return { percent: givenPercent(discount.percent) };
  return discount?.kind === 'amount' ? { amount: rounded(discount.amount) } : undefined;
}

const setupFor = ({ price, cost }: QuoteSums['setup']) =>
  compact({ price: price && rounded(price), cost: cost && rounded(cost) });

function toTermMargin(term: string, sums: TermSums) {
  const { comparablePrice, comparableCost, withoutPriceOrCost } = sums;
  return compact({
    term,
    price: comparablePrice && rounded(comparablePrice),
    cost: comparableCost && rounded(comparableCost),
    profit: comparablePrice && comparableCost && rounded(comparablePrice.minus(comparableCost)),
    margin: margin(comparablePrice, comparableCost),
    withoutPriceOrCost: nonZero(withoutPriceOrCost ?? 0),
  });
}

/** Amounts in the quote's currency; price and cost per unit, margin before the quote's discount. */
function toQuoteLine(item: QuoteItem, at: number) {
  const { total, unitPrice } = lineAmounts(item);
  const [price, cost] = [decimal(item.price), decimal(item.cost)];
  return compact({
    line: at + 1,
    name: nonBlank(item.name),
    mpn: nonBlank(item.mpn),
    productId: nonBlank(item.product?.id),
    quantity: item.quantity,
    price: price && perUnit(price),
    discount: item.discount || undefined,
    term: termKey(item),
    total: total && rounded(total),
    cost: cost && perUnit(cost),
    margin: margin(unitPrice, cost),
    setupPrice: item.setupPrice || undefined,
    setupCost: item.setupCost || undefined,
  });
}
