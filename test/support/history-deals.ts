import type { Opportunity } from '../../src/records/records.ts';

const count = 3_000;

/** Deals that say in every field that changes when they were read; a tenth of them change from day to day. */
export function dealsTakenAt(time: Date): Opportunity[] {
  const dayNumber = Math.floor(time.getTime() / 86_400_000);
  return Array.from({ length: count }, (_, number) => {
    const changes = number % 10 === dayNumber % 10;
    return {
      id: `deal-${number}`,
      name: changes ? time.toISOString() : `Deal ${number}`,
      onetimeRevenue: changes ? time.getTime() : number,
    };
  });
}
