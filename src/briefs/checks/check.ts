/** The type of a check of sales data, and shared helpers. */
import type { Quote, RecordOf, Resource } from '../../records/records.ts';
import type { Wording } from '../../text/untrusted-text.ts';
import type { Day } from '../days.ts';
import type { CurrencyOf, Decimal } from '../money.ts';
import type { Named } from '../naming.ts';

export type CheckName =
  | 'thin_margins'
  | 'below_cost'
  | 'stale_quotes'
  | 'expiring_quotes'
  | 'pricing_drift'
  | 'unlisted_on_quotes'
  | 'duplicate_products'
  | 'missing_external_ids'
  | 'stalled_opportunities'
  | 'missing_close_dates'
  | 'contacts_without_email';

/** Whole collections by resource; a check reads those that it `needs`. */
export type CheckData = { readonly [R in Resource]?: readonly RecordOf[R][] | undefined };

/** Percentages 0–100. Each check has its own defaults, in its `defaults`. */
export interface CheckParameters {
  /** Minimum margin in percent: `thin_margins`. */
  floor?: number;
  /** Days: `stale_quotes`, `expiring_quotes`, `stalled_opportunities`. */
  days?: number;
  /** Percent: `pricing_drift`. */
  tolerance?: number;
}

/** Parameters and context of a check, defaults filled in. */
export interface CheckContext extends Required<CheckParameters> {
  today: Day;
  currencyOf: CurrencyOf;
  /** The currency of catalogue prices, since products have no currency field. */
  catalogueCurrency: string;
}

/** One finding as a check makes it, unrounded. */
export interface RawFinding extends Named {
  resource: Resource;
  company?: string;
  atStake?: Decimal | undefined;
  currency?: string;
  /** Called only for the findings that are shown. */
  reason(): Wording;
  /** Related records. */
  related?: Named[];
}

export interface CheckResult {
  findings: RawFinding[];
  /** Number and name of the examined records. */
  examined: number;
  of: string;
  /** Number of records that could not be judged, by reason. */
  unjudged: Record<string, number>;
}

export interface Check {
  readonly name: CheckName;
  /** The collections to read. */
  readonly needs: readonly Resource[];
  readonly defaults: CheckParameters;
  /** The quotes whose items are examined. */
  readonly needsItems?: (quote: Quote) => boolean;
  /** The exact definition, in a sentence or two, with its parameters filled in. */
  define(context: CheckContext): string;
  examine(data: CheckData, context: CheckContext): CheckResult;
}

/** Counts reasons. */
export class ReasonCounts {
  readonly counts: Record<string, number> = {};

  add(reason: string): void {
    this.counts[reason] = (this.counts[reason] ?? 0) + 1;
  }
}
