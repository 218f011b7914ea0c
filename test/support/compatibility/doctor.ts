import { runHere } from '../process.ts';
import { type Compared, questions } from './difference.ts';
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
interface Examined {
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
    const { status, stdout, stderr } = await runHere(['doctor', '--json'], {
      CPQ_BASE_URL: service.url,
      CPQ_API_KEY: service.key,
      ...(rateLimit === undefined ? {} : { CPQ_RATE_LIMIT: String(rateLimit) }),
    });
    const report: Examined['report'] = JSON.parse(stdout);
    const statuses = new Set(report.checks.map((it) => it.status));
    return {
      exit: status,
      received: service.requests.length,
      output: stdout + stderr,
      report,
      worst: (['fail', 'warn'] as const).find((it) => statuses.has(it)) ?? 'pass',
    };
  } finally {
    await service.close();
  }
}

/** Those that read collections, about which `doctor` says whether they can be read. */
const foretold = questions.map(({ name }) => name).filter((name) => !/^list |^price$/.test(name));

/** The worst that `doctor` may report, for the worst answer. */
const allowed: Readonly<Record<Compared['result'], readonly Status[]>> = {
  wrong: ['fail'],
  error: ['fail', 'warn'],
  quiet: ['fail', 'warn'],
  honest: ['fail', 'warn'],
  right: ['pass', 'warn'],
};
const worstFirst = ['wrong', 'error', 'quiet', 'honest', 'right'] as const;

/**
 * How the report of `doctor` differs from the briefs; undefined if it does not. It may pass where only names are missing, so
 * that answers are honest, but not partial.
 */
export function contradiction(
  said: Status,
  compared: ReadonlyMap<string, Compared>,
  { partial = false, quiet = [] }: Variation,
): string | undefined {
  const results = [...compared].flatMap(([question, { result }]) => {
    if (!foretold.includes(question) || quiet.includes(question)) return [];
    return result === 'honest' && !partial ? 'right' : result;
  });
  const worst = worstFirst.find((it) => results.includes(it)) ?? 'right';
  return allowed[worst].includes(said) ? undefined : `a brief is ${worst}, and doctor says ${said}`;
}
