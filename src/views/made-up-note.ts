/** The note of an answer of the embedded tenant. The views drop it, because their own label says the same. */
export const madeUpNote = 'Made-up data of the embedded tenant.';
