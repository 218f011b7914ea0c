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
  of(id: string): Status | undefined;
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
    return {
      exit: status,
      received: service.requests(),
      output: stdout + stderr,
      report,
      of: (id) => report.checks.find((it) => it.id === id)?.status,
    };
  } finally {
    await service.close();
  }
}

/** The check of `doctor` that predicts each probe. */
export const foretells: Readonly<Record<string, string>> = {
  pipeline: 'brief:cpq_brief_pipeline',
  'pipeline of an owner': 'brief:cpq_brief_pipeline',
  'pipeline of a company': 'brief:cpq_brief_pipeline',
  'won and lost': 'brief:cpq_brief_pipeline',
  'brief of a company': 'brief:cpq_brief_company',
  'brief of a quote': 'brief:cpq_brief_quote',
  'brief of a quote by number': 'brief:cpq_brief_quote',
  'check below_cost': 'brief:cpq_check_sales_data',
  'check stale_quotes': 'brief:cpq_check_sales_data',
  find: 'brief:cpq_find',
};

/** What `doctor` may report, for each result of a brief. */
const allowed: Readonly<Record<Cell['result'], readonly Status[]>> = {
  wrong: ['fail'],
  unhelpful: ['fail', 'warn', 'skip'],
  refused: ['fail', 'warn', 'skip'],
  quiet: ['fail', 'warn'],
  partial: ['fail', 'warn'],
  right: ['pass', 'warn'],
};
const worstFirst = ['wrong', 'unhelpful', 'refused', 'quiet', 'partial', 'right'] as const;

/** The differences between the report of `doctor` and the briefs, a line each. */
export function contradictions(examined: Examined, cells: readonly Cell[]): string[] {
  return [...new Set(Object.values(foretells))].flatMap((id) => {
    const results = cells.filter(({ probe }) => foretells[probe] === id).map((it) => it.result);
    const worst = worstFirst.find((result) => results.includes(result));
    const said = examined.of(id);
    if (worst === undefined || (said !== undefined && allowed[worst].includes(said))) return [];
    return [`${id} is ${worst}, and doctor says ${said}`];
  });
}
