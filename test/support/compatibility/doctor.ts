import { run } from '../process.ts';
import type { Cell } from './matrix.ts';
import { startService } from './service.ts';
import type { Variation } from './variations.ts';

type Status = 'pass' | 'warn' | 'fail' | 'skip';

interface Check {
  id: string;
  title: string;
  status: Status;
  detail: string;
  remedy?: string;
}

/** The report of `doctor --json`. */
export interface Examined {
  /** Exit status. */
  exit: number | undefined;
  /** Requests that the service has counted. */
  received: number;
  output: string;
  report: { ok: boolean; requests: number; checks: Check[] };
  /** The worst status of all checks. */
  worst: Status;
}

export async function examineVariation({ set, rateLimit }: Variation): Promise<Examined> {
  const service = await startService(set);
  try {
    const { status, stdout, stderr } = await run(['doctor', '--json'], {
      CPQ_BASE_URL: service.url,
      CPQ_API_KEY: service.key,
      ...(rateLimit === undefined ? {} : { CPQ_RATE_LIMIT: String(rateLimit) }),
    });
    const report: Examined['report'] = JSON.parse(stdout);
    const statuses = new Set(report.checks.map((it) => it.status));
    return {
      exit: status,
      received: service.requests(),
      output: stdout + stderr,
      report,
      worst: (['fail', 'warn'] as const).find((it) => statuses.has(it)) ?? 'pass',
    };
  } finally {
    await service.close();
  }
}

/** The probes of briefs, which `doctor` foretells. */
export const foretold = [
  ...['pipeline', 'pipeline of an owner', 'pipeline of a company', 'won and lost'],
  ...['brief of a company', 'brief of a quote', 'brief of a quote by number'],
  ...['check below_cost', 'check stale_quotes', 'find'],
];

/** The worst that `doctor` may report, for the worst result of a brief. */
const allowed: Readonly<Record<Cell['result'], readonly Status[]>> = {
  wrong: ['fail'],
  unhelpful: ['fail', 'warn'],
  refused: ['fail', 'warn'],
  quiet: ['fail', 'warn'],
  partial: ['fail', 'warn'],
  right: ['pass', 'warn'],
};
const worstFirst = ['wrong', 'unhelpful', 'refused', 'quiet', 'partial', 'right'] as const;

/** How the report of `doctor` differs from the briefs; undefined if it does not. */
export function contradiction({ worst: said }: Examined, cells: readonly Cell[]) {
  const worst = worstFirst.find((it) => cells.some(({ result }) => result === it)) ?? 'right';
  return allowed[worst].includes(said) ? undefined : `a brief is ${worst}, and doctor says ${said}`;
}
