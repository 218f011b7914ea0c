/**
 * The scale in which a write sends probabilities. The API is said to take 0–1; a service that shows 0–100 may take what
 * it shows. Which one it is, is learnt from the first write.
 */
import type { Tenant } from '../tenant/tenant.ts';

const trait = 'probability as stored';

/** Whether the service takes probabilities in the scale in which it shows them; `undefined` if that is unknown. */
export const takesStoredScale = (tenant: Tenant): boolean | undefined => tenant.learnt(trait);

export const learnStoredScale = (tenant: Tenant, takesIt: boolean): void =>
  tenant.learn(trait, takesIt);
