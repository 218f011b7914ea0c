import type { Judged } from './judge.ts';
import type { Session } from './session.ts';

/** Something that people ask for, asked of the server and judged by what is true. */
export interface Probe {
  name: string;
  run(session: Session): Promise<Judged>;
}
