import type { ChangeRow, Movement } from '../../../history/pipeline-changes.ts';

export type MovedDeal = Omit<ChangeRow, 'movement'> & { movement: Movement[] };

const toTalkAbout = 5;

/** First what was lost or went the wrong way, then what was won, then the rest; in each the largest first. */
export function dealsToTalkAbout(rows: readonly MovedDeal[]): MovedDeal[] {
  const first = ['lost', 'slipped', 'stageBack', 'valueDown', 'removed'];
  const rank = ({ movement }: MovedDeal) =>
    movement.some((it) => first.includes(it)) ? 0 : movement.includes('won') ? 1 : 2;
  return rows.toSorted((a, b) => rank(a) - rank(b)).slice(0, toTalkAbout);
}
