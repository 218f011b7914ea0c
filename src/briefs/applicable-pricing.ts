/** The discount groups and pricing books that apply to a company today. */
import type { Company, DiscountGroup, PricingBook } from '../records/records.ts';
import { byReach, isValid, type Reach, reachOf, windowOf } from './books.ts';
import type { Day } from './days.ts';
import { compact, type LimitedList, limitList, type Named, nonBlank } from './naming.ts';
import { isDeleted } from './outcome.ts';

export interface DiscountGroupRow extends Named {
  reach: Reach;
  discounts?: number;
}

export interface PricingBookRow extends Named {
  reach: Reach;
  specialBidNumber?: string;
  validFrom?: Day;
  validTo?: Day;
  products?: number;
  classificationIds?: string[];
}

/** Groups that name the company or its classification. A group that names no company applies to none. */
export function discountGroupsFor(
  company: Company,
  groups: readonly DiscountGroup[],
  limit: number,
): LimitedList<DiscountGroupRow> {
  const rows = groups.flatMap((group): DiscountGroupRow[] => {
    const reach = reachOf(group, company);
    if (!reach || reach === 'everyone' || isDeleted(group)) return [];
    const discounts = group.discounts?.length || undefined;
    return [compact({ id: nonBlank(group.id), name: nonBlank(group.name), reach, discounts })];
  });
  return limitList(rows.sort(byReach), limit, (row) => row);
}

/** Books that are valid today and name the company, its classification, or no company at all. */
export function pricingBooksFor(
  company: Company,
  books: readonly PricingBook[],
  today: Day,
  limit: number,
): LimitedList<PricingBookRow> {
  const rows = books.flatMap((book): PricingBookRow[] => {
    const reach = reachOf(book, company);
    return reach && isValid(book, today) ? [toBookRow(book, reach)] : [];
  });
  return limitList(rows.sort(byReach), limit, (row) => row);
}

function toBookRow(book: PricingBook, reach: Reach): PricingBookRow {
  const byClass = reach === 'classification' || reach === 'unclear';
  return compact({
    id: nonBlank(book.id),
    name: nonBlank(book.name),
    reach,
    specialBidNumber: nonBlank(book.specialBidNumber),
    ...windowOf(book),
    products: book.products?.length || undefined,
    classificationIds: byClass ? book.classificationIds : undefined,
  });
}
