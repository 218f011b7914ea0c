/**
 * The scale in which a write sends probabilities. The API is said to take 0–1; a service that shows 0–100 may take what
 * it shows. Which one it is, is learnt from what the
 * first write shows when it is read back: a service may refuse the other scale, or store it without a word.
 */
import type { Tenant } from '../tenant/tenant.ts';

const trait = 'probability as stored';

/** Whether the service takes probabilities in the scale in which it shows them; `undefined` if that is unknown. */
export const takesStoredScale = (tenant: Tenant): boolean | undefined =>
  tenant.writes.learnt(trait);

export const learnStoredScale = (tenant: Tenant, takesIt: boolean): void =>
  tenant.writes.learn(trait, takesIt);

/**
 * Which scale the service took, by what it was sent and what it then shows; `undefined` if that does not tell. A shown
 * value above 100 cannot be meant, and one that was sent as 0–1 and is shown as such was not converted.
 */
export function shownScale(sent: unknown, shown: number | undefined): boolean | undefined {
  const value = Number(sent);
  if (!(value > 0) || shown === undefined) return undefined;
  if (isAbout(shown, value)) return true;
  return value > 1 && isAbout(shown, value * 100) ? false : undefined;
}

/** Equal but for floating-point errors and the last decimals. */
const isAbout = (one: number, other: number): boolean => Math.abs(one / other - 1) < 1e-4;
