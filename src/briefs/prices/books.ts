/** The pricing books and discount groups that apply to a company on a day, and their prices. */

import { type Day, dayOf, within } from '../../figures/days.ts';
import { compact, nonBlank } from '../../figures/fields.ts';
import { groupBy, limitList } from '../../figures/lists.ts';
import { type Decimal, decimal, hundred, percentOf } from '../../figures/money.ts';
import { byName, type Named, named } from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import type { Company, DiscountGroup, PricingBook } from '../../service/records/records.ts';
import { type Wording, wording } from '../../text/untrusted-text.ts';
import { fieldOf } from '../../values.ts';

/**
 * To whom a book or group applies: to this company, to its classification, or to everyone. `unclear`: to
 * classifications, and those of the company are unknown; or it cannot be read to whom.
 */
export type Applicability = 'company' | 'classification' | 'everyone' | 'unclear';

export type Assignable = Pick<PricingBook, 'companyIds' | 'classificationIds' | 'unreadable'>;

/** `undefined` when it does not apply. If it names no company, it applies to all. */
export function applicabilityOf(
  assignable: Assignable,
  company: Company | undefined,
): Applicability | undefined {
  const companies = assignable.companyIds ?? [];
  const classifications = assignable.classificationIds ?? [];
  const isRead = (field: keyof Assignable) => assignable.unreadable?.[field] === undefined;
  const areRead = isRead('companyIds') && isRead('classificationIds');
  if (areRead && companies.length === 0 && classifications.length === 0) return 'everyone';
  if (!company) return undefined;
  if (company.id !== undefined && companies.includes(company.id)) return 'company';
  if (!areRead) return 'unclear';
  if (classifications.length === 0) return undefined;
  const companyClassifications = classificationsOf(company);
  if (companyClassifications.length === 0) return 'unclear';
  return companyClassifications.some((id) => classifications.includes(id))
    ? 'classification'
    : undefined;
}

/** The API documents no field for it, so this tries the fields that tenants send. */
function classificationsOf(company: Company): string[] {
  const { classificationId, classificationIds, classification } = company;
  const nested = fieldOf(classification, 'id');
  const all = [
    classificationId,
    nested,
    ...(Array.isArray(classificationIds) ? classificationIds : []),
  ];
  return all.flatMap((id) =>
    typeof id === 'number' || (typeof id === 'string' && id !== '') ? String(id) : [],
  );
}

/** A book is valid from the first to the last day of its window; a missing end is open. */
const isValid = (book: PricingBook, day: Day): boolean =>
  !isDeleted(book) && within(day, book.validFrom, book.validTo);

/** The price of one product in one book, per unit. */
export interface BookPrice {
  book: PricingBook;
  productId: string;
  price: Decimal | undefined;
}

/** The entries of a book that are valid on a day: the book's window and the entry's own. */
export function validEntries(book: PricingBook, day: Day): BookPrice[] {
  if (!isValid(book, day)) return [];
  return (book.products ?? []).flatMap(({ productId, price, validFrom, validTo }) =>
    productId !== undefined && within(day, validFrom, validTo)
      ? { book, productId, price: decimal(price) }
      : [],
  );
}

export type KnownPrice = BookPrice & { price: Decimal };
const isKnown = (entry: BookPrice): entry is KnownPrice => entry.price !== undefined;

const precedence: readonly Applicability[] = ['company', 'classification', 'everyone'];

/**
 * Tells the prices of a product in the books that apply to a company on a day, the lowest first, then by name and id of the
 * book: those of books that name the company; if there are none, its classification; if none, nobody.
 */
export function pricesFor(
  books: readonly PricingBook[],
  company: Company | undefined,
  day: Day,
): (productId: string) => readonly KnownPrice[] {
  const ranks = precedence.map((appliesTo) => {
    const applicable = books.filter((book) => applicabilityOf(book, company) === appliesTo);
    const entries = applicable.flatMap((book) => validEntries(book, day)).filter(isKnown);
    return groupBy(entries, ({ productId }) => productId);
  });
  return (productId) => {
    const prices = ranks.map((rank) => rank.get(productId)).find((rank) => rank !== undefined);
    return prices?.toSorted((a, b) => a.price.cmp(b.price) || byName(a.book, b.book)) ?? [];
  };
}

/** Whether a price differs from another by more than the tolerance, in percent of the other. */
export const deviates = (price: Decimal, from: Decimal, tolerance: number): boolean =>
  price.minus(from).abs().times(hundred).gt(from.abs().times(tolerance));

/** " (+5.2 %)": by how much a price deviates from another; `false` where the other is 0. */
export function deviationWords(price: Decimal, from: Decimal): Wording | false {
  const percent = percentOf(price.minus(from), from);
  // Compared, because a small deviation is rounded to 0, which has no sign.
  const sign = price.gt(from) === from.gt(0) ? '+' : '';
  return percent !== undefined && wording` (${sign}${percent} %)`;
}

const applicabilityOrder: readonly (Applicability | undefined)[] = [...precedence, 'unclear'];

/** The company's own first, then those of its classification; then by name and id. */
export const byApplicability = (
  a: Named & { appliesTo?: Applicability | undefined },
  b: Named & { appliesTo?: Applicability | undefined },
): number =>
  applicabilityOrder.indexOf(a.appliesTo) - applicabilityOrder.indexOf(b.appliesTo) || byName(a, b);

/** A group that names no company applies to none, nor does a deleted one. */
export function groupApplicability(
  group: DiscountGroup,
  company: Company,
): Exclude<Applicability, 'everyone'> | undefined {
  const appliesTo = isDeleted(group) ? undefined : applicabilityOf(group, company);
  return appliesTo === 'everyone' ? undefined : appliesTo;
}

/** Groups that name the company or its classification. */
export function discountGroupsFor(
  company: Company,
  groups: readonly DiscountGroup[],
  limit: number,
) {
  const rows = groups.flatMap((group) => {
    const appliesTo = groupApplicability(group, company);
    const discounts = group.discounts?.length || undefined;
    return appliesTo ? [compact({ ...named(group), appliesTo, discounts })] : [];
  });
  return limitList(rows.sort(byApplicability), limit);
}

/** Books that are valid today and name the company, its classification, or no company at all. */
export function pricingBooksFor(
  company: Company,
  books: readonly PricingBook[],
  today: Day,
  limit: number,
) {
  const rows = books.flatMap((book) => {
    const appliesTo = applicabilityOf(book, company);
    if (!appliesTo || !isValid(book, today)) return [];
    const isByClass = appliesTo === 'classification' || appliesTo === 'unclear';
    const row = {
      ...named(book),
      appliesTo,
      specialBidNumber: nonBlank(book.specialBidNumber),
      validFrom: dayOf(book.validFrom),
      validTo: dayOf(book.validTo),
      products: book.products?.length || undefined,
      classificationIds: isByClass ? book.classificationIds : undefined,
    };
    return [compact(row)];
  });
  return limitList(rows.sort(byApplicability), limit);
}
