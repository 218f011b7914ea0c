import { briefProbes } from './brief-probes.ts';
import type { Judged } from './judge.ts';
import { listProbes } from './list-probes.ts';
import type { Session } from './session.ts';
import { writeProbes } from './write-probes.ts';

/** Something that people ask for, asked of the server and judged by what is true. */
export interface Probe {
  name: string;
  run(session: Session): Promise<Judged>;
}

/** The writes come last: those before read the world as it was made. */
export const probes: readonly Probe[] = [...listProbes, ...briefProbes, ...writeProbes];
