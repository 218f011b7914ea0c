import type { Opportunity } from '../../src/service/records/records.ts';

const count = 3_000;

/** Deals of which a tenth change from day to day; every field that changes contains the time of reading. */
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
