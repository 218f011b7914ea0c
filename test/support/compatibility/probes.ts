import { briefProbes } from './brief-probes.ts';
import { listProbes } from './list-probes.ts';
import type { Probe } from './probe.ts';
import { writeProbes } from './write-probes.ts';

/** The writes come last: those before read the world as it was made. */
export const probes: readonly Probe[] = [...listProbes, ...briefProbes, ...writeProbes];
