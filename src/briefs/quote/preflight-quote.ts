/** The findings of the pre-flight check that are about the quote as a whole. */

import { type Day, dayOf, daysBetween } from '../../figures/days.ts';
import {
  currencyOfRecord,
  type Decimal,
  givenPercent,
  hundred,
  rounded,
  unknownCurrency,
  zero,
} from '../../figures/money.ts';
import { contactName, inDays, nonBlank } from '../../figures/naming.ts';
import { deletionOf, isDeleted, type Outcome, outcomeOf } from '../../figures/outcome.ts';
import { isAnsweredOrDeleted, isPastExpiry, statusCategoryOf } from '../../figures/quote-state.ts';
import {
  applyDiscount,
  hasUnknownItems,
  quoteDiscount,
  sumItems,
  type TermSums,
} from '../../figures/quote-totals.ts';
import type { Quote } from '../../service/records/records.ts';
import { quote as quoteText, trusted, type Wording, wording } from '../../text/untrusted-text.ts';
import {
  type FindingBody,
  mustFix,
  type PreflightRecords,
  type ResolvedPreflightOptions,
  toReview,
} from './preflight-finding.ts';

/** In the order of docs/definitions.md, "Pre-flight". */
export function quoteFindings(
  records: PreflightRecords,
  options: ResolvedPreflightOptions,
): FindingBody[] {
  const { quote } = records;
  return [
    ...deletionFindings(quote),
    ...itemFindings(quote),
    ...discountFindings(quote, options),
    ...currencyFindings(records, options),
    ...validityFindings(quote, options),
    ...missingParties(quote),
    ...(isAnsweredOrDeleted(quote) ? [] : partyFindings(records)),
  ];
}

function itemFindings(quote: Quote): FindingBody[] {
  if (hasUnknownItems(quote))
    return [toReview('items_unread', wording`The quote's items could not be read.`)];
  return quote.items?.length ? [] : [mustFix('no_items', wording`The quote has no items.`)];
}

function deletionFindings(quote: Quote): FindingBody[] {
  const deleted = deletionOf(quote);
  if (deleted === undefined) return [];
  const day = deleted === true ? '' : wording` on ${trusted(deleted)}`;
  return [mustFix('deleted_quote', wording`The quote was deleted${day}.`)];
}

function discountFindings(
  quote: Quote,
  { discountLimit }: ResolvedPreflightOptions,
): FindingBody[] {
  const discount = quoteDiscount(quote);
  if (!discount) return [];
  if (discount.kind === 'unreadable') {
    const type = describeType(nonBlank(quote.discount?.type));
    return [
      toReview('discount_not_applied', wording`The quote's discount ${type}: it is in no total.`),
    ];
  }
  if (discount.kind === 'percent') return deepQuoteDiscount(discount.percent, discountLimit);
  return amountFindings(quote, discount.amount, discountLimit);
}

const describeType = (type: string | undefined): Wording =>
  type === undefined ? wording`has no type` : wording`is of the type ${quoteText(type)}`;

function deepQuoteDiscount(percent: Decimal, limit: number): FindingBody[] {
  if (percent.lte(limit)) return [];
  const why = wording`The quote's discount is ${givenPercent(percent)} %, over the limit of ${limit} %.`;
  return [toReview('discount_over_limit', why)];
}

/** An amount is deducted from the one-time total, so it is compared with that total. */
function amountFindings(quote: Quote, amount: Decimal, limit: number): FindingBody[] {
  const before = sumItems(quote.items ?? []);
  const oneTime = before.terms.get('one-time')?.price ?? zero;
  const after = applyDiscount(before, { kind: 'amount', amount }).terms.get('one-time');
  const findings: FindingBody[] = [];
  if (amount.times(hundred).gt(oneTime.times(limit))) {
    const why = wording`The quote's discount of ${rounded(amount)} is over ${limit} % of the one-time total of ${rounded(oneTime)}.`;
    findings.push(toReview('discount_over_limit', why));
  }
  if (after && turnsToLoss(before.terms.get('one-time'), after)) {
    const why = wording`The quote's discount of ${rounded(amount)} takes the one-time total under its cost.`;
    findings.push(mustFix('negative_margin', why));
  }
  return findings;
}

function turnsToLoss(before: TermSums | undefined, after: TermSums): boolean {
  if (!before?.comparablePrice || !before.comparableCost || !after.comparablePrice) return false;
  return (
    before.comparablePrice.gte(before.comparableCost) &&
    after.comparablePrice.lt(before.comparableCost)
  );
}

function currencyFindings(
  { quote, company }: PreflightRecords,
  { currencyOf }: ResolvedPreflightOptions,
): FindingBody[] {
  const currency = currencyOfRecord({ ...quote, ...(company && { company }) }, currencyOf);
  if (currency !== unknownCurrency) return [];
  const why = wording`The currency is unknown: neither the quote nor its company names one.`;
  return [toReview('unknown_currency', why)];
}

/** Days before expiry from which a quote is a finding. */
const expiresWithinDays = 7;

/** Only quotes that are neither answered nor deleted can expire. */
function validityFindings(quote: Quote, { today }: ResolvedPreflightOptions): FindingBody[] {
  if (isAnsweredOrDeleted(quote)) return [];
  const expires = dayOf(quote.expiresAt);
  const daysLeft = expires === undefined ? undefined : daysBetween(today, expires);
  if (statusCategoryOf(quote) === 'expired' || isPastExpiry(quote, today))
    return [mustFix('expired', describeExpired(quote, today))];
  if (daysLeft === undefined)
    return [toReview('missing_expiry', wording`The quote has no expiry date: it never expires.`)];
  if (daysLeft > expiresWithinDays) return [];
  const why = wording`The quote expires on ${trusted(expires ?? '')}, ${inDays(daysLeft)}.`;
  return [toReview('expiring', why)];
}

function describeExpired({ expiredAt, expiresAt }: Quote, today: Day): Wording {
  const day = dayOf(expiredAt) ?? dayOf(expiresAt);
  return day && day <= today
    ? wording`The quote expired on ${trusted(day)}.`
    : wording`The quote has expired.`;
}

function missingParties(quote: Quote): FindingBody[] {
  const has = (ref: { id?: string; name?: string } | undefined): boolean =>
    Boolean(nonBlank(ref?.id) ?? nonBlank(ref?.name));
  return [
    ...(has(quote.company)
      ? []
      : [toReview('missing_company', wording`The quote names no company.`)]),
    ...(hasContact(quote)
      ? []
      : [toReview('missing_contact', wording`The quote names no contact.`)]),
    ...(has(quote.paymentTerm)
      ? []
      : [toReview('missing_payment_term', wording`The quote has no payment term.`)]),
  ];
}

/** A nested contact may have first and last name instead of a name. */
const hasContact = ({ contact }: Quote): boolean =>
  Boolean(
    contact && Object.values(contact).some((value) => typeof value === 'string' && value.trim()),
  );

/** Whether company, contact and opportunity are still as a quote that goes out needs them. */
function partyFindings({ company, contact, opportunity }: PreflightRecords): FindingBody[] {
  const findings: FindingBody[] = [];
  if (company && isDeleted(company))
    findings.push(mustFix('deleted_company', wording`The company was deleted.`));
  const who = quoteText(contactName(contact ?? {}) ?? contact?.id ?? '');
  if (contact && isDeleted(contact))
    findings.push(mustFix('deleted_contact', wording`The contact ${who} was deleted.`));
  else if (contact && !contact.email?.includes('@'))
    findings.push(toReview('contact_without_email', wording`The contact ${who} has no e-mail.`));
  const closed = opportunity && closedDeals[outcomeOf(opportunity)];
  return closed ? [...findings, closed] : findings;
}

const closedDeals: Readonly<Record<Outcome, FindingBody | undefined>> = {
  open: undefined,
  won: toReview('opportunity_won', wording`The opportunity is already won.`),
  lost: toReview('opportunity_lost', wording`The opportunity is lost.`),
  closed_unknown: toReview('opportunity_closed', wording`The opportunity is closed.`),
  deleted: toReview('opportunity_deleted', wording`The opportunity was deleted.`),
};
