/** The discount groups and pricing books that apply to a company today. */

import type { Day } from '../../figures/days.ts';
import {
  compact,
  type LimitedList,
  limitList,
  type Named,
  nonBlank,
} from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import type { Company, DiscountGroup, PricingBook } from '../../service/records/records.ts';
import {
  type Applicability,
  applicabilityOf,
  byApplicability,
  isValid,
  windowOf,
} from '../prices/books.ts';

export interface DiscountGroupRow extends Named {
  appliesTo: Applicability;
  discounts?: number;
}

export interface PricingBookRow extends Named {
  appliesTo: Applicability;
  specialBidNumber?: string;
  validFrom?: Day;
  validTo?: Day;
  products?: number;
  classificationIds?: readonly string[];
}

/** Groups that name the company or its classification. A group that names no company applies to none. */
export function discountGroupsFor(
  company: Company,
  groups: readonly DiscountGroup[],
  limit: number,
): LimitedList<DiscountGroupRow> {
  const rows = groups.flatMap((group): DiscountGroupRow[] => {
    const appliesTo = applicabilityOf(group, company);
    if (!appliesTo || appliesTo === 'everyone' || isDeleted(group)) return [];
    const discounts = group.discounts?.length || undefined;
    return [compact({ id: nonBlank(group.id), name: nonBlank(group.name), appliesTo, discounts })];
  });
  return limitList(rows.sort(byApplicability), limit, (row) => row);
}

/** Books that are valid today and name the company, its classification, or no company at all. */
export function pricingBooksFor(
  company: Company,
  books: readonly PricingBook[],
  today: Day,
  limit: number,
): LimitedList<PricingBookRow> {
  const rows = books.flatMap((book): PricingBookRow[] => {
    const appliesTo = applicabilityOf(book, company);
    return appliesTo && isValid(book, today) ? [toBookRow(book, appliesTo)] : [];
  });
  return limitList(rows.sort(byApplicability), limit, (row) => row);
}

function toBookRow(book: PricingBook, appliesTo: Applicability): PricingBookRow {
  const byClassification = appliesTo === 'classification' || appliesTo === 'unclear';
  return compact({
    id: nonBlank(book.id),
    name: nonBlank(book.name),
    appliesTo,
    specialBidNumber: nonBlank(book.specialBidNumber),
    ...windowOf(book),
    products: book.products?.length || undefined,
    classificationIds: byClassification ? book.classificationIds : undefined,
  });
}
