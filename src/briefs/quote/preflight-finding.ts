/** A finding of the pre-flight check, and what a check is given. */

import type { Day } from '../../figures/days.ts';
import type { CurrencyOf } from '../../figures/money.ts';
import type {
  Company,
  Contact,
  Opportunity,
  PricingBook,
  Product,
  Quote,
} from '../../service/records/records.ts';
import type { Wording } from '../../text/untrusted-text.ts';

export type FindingCode =
  | 'deleted_quote'
  | 'no_items'
  | 'items_unread'
  | 'missing_price'
  | 'missing_cost'
  | 'missing_quantity'
  | 'price_under_cost'
  | 'negative_margin'
  | 'zero_margin'
  | 'missing_term'
  | 'term_differs'
  | 'unrecognised_term'
  | 'discount_over_limit'
  | 'discount_not_applied'
  | 'setup_cost_without_price'
  | 'under_book'
  | 'departs_from_book'
  | 'unlisted_product'
  | 'unknown_currency'
  | 'expired'
  | 'expiring'
  | 'missing_expiry'
  | 'missing_company'
  | 'missing_contact'
  | 'missing_payment_term'
  | 'deleted_company'
  | 'deleted_contact'
  | 'contact_without_email'
  | 'opportunity_won'
  | 'opportunity_lost'
  | 'opportunity_closed'
  | 'opportunity_deleted';

/** `stop`: must be fixed before sending. `check`: review it, it may be intended. */
export type Severity = 'stop' | 'check';

export interface PreflightFinding {
  code: FindingCode;
  severity: Severity;
  /** Position of the line, from 1; absent when it is about the quote. */
  line?: number;
  item?: string;
  why: Wording;
}

export interface PreflightOptions {
  today: Day;
  currencyOf: CurrencyOf;
  /** Highest discount in percent that needs no review. Default: 20. */
  discountLimit?: number;
}

export type ResolvedPreflightOptions = Required<PreflightOptions>;

/** The quote and what it is compared with; `undefined` for what may not be read or is not found. */
export interface PreflightRecords {
  quote: Quote;
  company?: Company | undefined;
  contact?: Contact | undefined;
  opportunity?: Opportunity | undefined;
  books?: readonly PricingBook[] | undefined;
  products?: readonly Product[] | undefined;
}

export type FindingBody = Omit<PreflightFinding, 'line' | 'item'>;

export const mustFix = (code: FindingCode, why: Wording): FindingBody => ({
  code,
  severity: 'stop',
  why,
});

export const toReview = (code: FindingCode, why: Wording): FindingBody => ({
  code,
  severity: 'check',
  why,
});
