import type { Judged } from './judge.ts';
import type { Session } from './session.ts';

/** A question to the server, and the judgement of its answer. */
export interface Probe {
  name: string;
  run(session: Session): Promise<Judged>;
}
