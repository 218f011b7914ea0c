/** The scale of a tenant's probabilities: some tenants store 0–1, others 0–100. */
import type { Opportunity } from '../service/records/records.ts';
import { type Decimal, decimal, hundred } from './money.ts';

/** `unknown`: no opportunity has a probability. */
export type Scale = '0-1' | '0-100' | 'unknown';

export interface ProbabilityScale {
  scale: Scale;
  /** Why the scale is unknown or ambiguous, as text for the reader. */
  decided?: string;
  /** The values do not settle the scale. */
  ambiguous?: true;
}

/**
 * Decides the scale from every opportunity of a tenant, closed and deleted ones too: values above 1 mean 0–100, unless
 * more lie between 0 and 1, which hardly anybody means as under 1 %. Only 0 and 1, or both kinds, are reported as
 * ambiguous.
 */
export function probabilityScale(opportunities: readonly Opportunity[]): ProbabilityScale {
  const { values, above, fractions } = countValues(opportunities);
  if (values === 0) return { scale: 'unknown', decided: 'no opportunity has a probability' };
  if (above === 0 && fractions > 0) return { scale: '0-1' };
  if (above > 0 && fractions === 0) return { scale: '0-100' };
  const decided =
    above === 0
      ? `${values} values are all 0 or 1, so 1 is read as certain: check them`
      : fractions > above
        ? `${fractions} of ${values} values are between 0 and 1; ${above} above 1 are left out: check them`
        : `${above} of ${values} values are above 1; ${fractions} between 0 and 1 are read as under 1 %: check them`;
  const scale = above === 0 || fractions > above ? '0-1' : '0-100';
  return { scale, decided, ambiguous: true };
}

function countValues(opportunities: readonly Opportunity[]) {
  let [values, above, fractions] = [0, 0, 0];
  for (const { probability } of opportunities) {
    if (probability === undefined) continue;
    values += 1;
    if (probability > 1) above += 1;
    else if (probability > 0 && probability < 1) fractions += 1;
  }
  return { values, above, fractions };
}

/** A stored probability as 0–1; `undefined` when there is none or it lies outside its scale. */
export function probabilityShare(
  probability: number | undefined,
  scale: Scale,
): Decimal | undefined {
  const stored = decimal(probability);
  if (!stored || scale === 'unknown') return undefined;
  const share = scale === '0-100' ? stored.div(hundred) : stored;
  return share.lt(0) || share.gt(1) ? undefined : share;
}

/** Weighted revenue: revenue × probability; `undefined` when either is unknown. */
export function weighted(
  revenue: Decimal | undefined,
  chance: Decimal | undefined,
): Decimal | undefined {
  return revenue && chance && revenue.times(chance);
}
