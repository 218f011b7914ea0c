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
  const counts = { values: 0, above: 0, fractions: 0 };
  for (const { probability } of opportunities) {
    if (probability === undefined) continue;
    counts.values += 1;
    if (probability > 1) counts.above += 1;
    else if (probability > 0 && probability < 1) counts.fractions += 1;
  }
  const { values, above, fractions } = counts;
  if (values === 0) return { scale: 'unknown', decided: 'no opportunity has a probability' };
  if (above === 0)
    return fractions > 0
      ? { scale: '0-1' }
      : {
          scale: '0-1',
          decided: `${values} values are all 0 or 1, so 1 is read as certain: check them`,
          ambiguous: true,
        };
  if (fractions === 0) return { scale: '0-100' };
  if (fractions > above)
    return {
      scale: '0-1',
      decided: `${fractions} of ${values} values are between 0 and 1; ${above} above 1 are left out: check them`,
      ambiguous: true,
    };
  return {
    scale: '0-100',
    decided: `${above} of ${values} values are above 1; ${fractions} between 0 and 1 are read as under 1 %: check them`,
    ambiguous: true,
  };
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
