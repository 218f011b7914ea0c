/** The type of a check of sales data, and the loop that all checks share. */

import type { Day } from '../../figures/days.ts';
import { addTo } from '../../figures/lists.ts';
import type { CurrencyOf, Decimal } from '../../figures/money.ts';
import type { Named } from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { forEachStep, type Steps } from '../../figures/steps.ts';
import type { ApiRecord, RecordLists, Ref, Resource } from '../../service/records/records.ts';
import type { Wording } from '../../text/untrusted-text.ts';

/** Percentages 0–100. Each check has its own defaults, in its `defaults`. */
export interface CheckParameters {
  /** Minimum margin in percent: `thin_margins`. */
  floor?: number;
  /** Days: `stale_quotes`, `expiring_quotes`, `contracts_running_out`, `stalled_opportunities`. */
  days?: number;
  /** Percent: `pricing_drift`. */
  tolerance?: number;
}

/** Parameters and context of a check, defaults filled in. */
export interface CheckContext extends Required<CheckParameters> {
  today: Day;
  currencyOf: CurrencyOf;
}

/** One finding as a check makes it, unrounded. */
export interface RawFinding extends Named {
  /** Of a quote. */
  number?: string;
  company?: Named;
  owner?: Ref | undefined;
  /** Status category of a quote, stage of an opportunity. */
  status?: string;
  /** Properties that distinguish findings, with their values: `acceptance` → `past expiry`. */
  kinds: Readonly<Record<string, string>>;
  /** The opportunity of a quote. */
  deal?: string;
  /** Number of lines of a quote, or of products, that the finding is about. */
  parts?: number;
  atStake?: Decimal | undefined;
  currency: string;
  /** Called only for the findings that are shown. */
  reason(): Wording;
  related?: Named[];
}

export interface CheckResult {
  findings: RawFinding[];
  examined: number;
  /** Number of records that could not be checked, by reason. */
  notChecked: Record<string, number>;
  /** More than counts and sums of the findings. */
  figures?: Record<string, unknown>;
}

export interface Check {
  /** Whole collections. The filters by owner, company and status apply to the first; others are only looked up. */
  readonly needs: readonly [Resource, ...Resource[]];
  /** Collections that the check uses if they may be read. */
  readonly wants?: readonly Resource[];
  /** What the examined records are called. */
  readonly of: string;
  /** What a finding is: its singular. */
  readonly unit:
    | 'product'
    | 'book price'
    | 'part'
    | 'duplicate'
    | 'quote'
    | 'contract item'
    | 'opportunity';
  /** What `parts` of the findings count. */
  readonly parts?: 'lines' | 'products' | 'contacts';
  readonly defaults?: CheckParameters;
  /** The exact definition, in a sentence or two, with its parameters filled in. */
  define(context: CheckContext): string;
  examine(data: RecordLists, context: CheckContext): Steps<CheckResult>;
}

export const isKept = (record: ApiRecord): boolean => !isDeleted(record);

/** A finding, or the reason why a record or a part of it cannot be checked. */
export type Judgement<Finding = RawFinding> = Finding | string | undefined;

export function* examineEach<R>(
  records: readonly R[] = [],
  judge: (record: R) => Judgement | readonly Judgement[],
  isExamined: (record: R) => boolean = () => true,
): Steps<CheckResult> {
  const result: CheckResult = { findings: [], examined: 0, notChecked: {} };
  const { findings, notChecked } = result;
  yield* forEachStep(records, (record) => {
    if (!isExamined(record)) return;
    result.examined += 1;
    for (const judged of [judge(record)].flat()) {
      if (typeof judged === 'string') notChecked[judged] = (notChecked[judged] ?? 0) + 1;
      else if (judged) findings.push(judged);
    }
  });
  return result;
}

/**
 * Findings about records that have a key in common.
 * @param keysOf the keys of a record, or the reason why it has none
 */
export function* examineSharing<R>(
  records: readonly R[] | undefined,
  keysOf: (record: R) => Iterable<string> | { reason: string },
  findingOn: (sharing: readonly R[], key: string) => RawFinding,
  isExamined: (record: R) => boolean,
): Steps<CheckResult> {
  const groups = new Map<string, R[]>();
  const judge = (record: R): Judgement => {
    const keys = keysOf(record);
    if ('reason' in keys) return keys.reason;
    for (const key of keys) addTo(groups, key, record);
    return undefined;
  };
  const result = yield* examineEach(records, judge, isExamined);
  yield* forEachStep(groups, ([key, sharing]) => {
    if (sharing.length > 1) result.findings.push(findingOn(sharing, key));
  });
  return result;
}
