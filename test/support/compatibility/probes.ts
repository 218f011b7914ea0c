import { briefProbes } from './brief-probes.ts';
import { listProbes } from './list-probes.ts';
import type { Probe } from './probe.ts';
import { writeProbes } from './write-probes.ts';

/** Writes come last, because the others expect the original data. */
export const probes: readonly Probe[] = [...listProbes, ...briefProbes, ...writeProbes];
