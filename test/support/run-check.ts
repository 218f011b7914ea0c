import {
  type CheckData,
  type CheckName,
  type CheckOptions,
  type CheckReport,
  examine,
  reportOn,
} from '../../src/briefs/checks/checks.ts';
import { runSteps } from '../../src/figures/steps.ts';

export type RunOptions = CheckOptions & { from?: number; maxRows?: number };

/** Runs a check at once, and reports the findings that the tool shows by default, or those of the options. */
export function runCheck(name: CheckName, data: CheckData, options: RunOptions): CheckReport {
  const { from = 0, maxRows = 15, ...about } = options;
  return reportOn(runSteps(examine(name, data, about)), { from, maxRows });
}
