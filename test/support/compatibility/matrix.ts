import type { Judged, Verdict } from './judge.ts';
import type { Probe } from './probe.ts';
import { probes } from './probes.ts';
import { openSession } from './session.ts';
import type { Variation } from './variations.ts';

/** An error is `refused` where it cannot be avoided, and `unhelpful` where a careful client can read on. */
type Result = Exclude<Verdict, 'error'> | 'refused' | 'unhelpful';

export interface Cell {
  variation: string;
  probe: string;
  result: Result;
  why: string;
  /** Number of requests. */
  requests: number;
}

const ownFault = /Something went wrong inside this server/;

function resultOf({ verdict, why }: Judged, variation: Variation, probe: string): Result {
  if (verdict !== 'error') return verdict;
  const { mayFail = [], untrue } = variation;
  const allowed = mayFail === 'every' || mayFail.includes(probe);
  return allowed && !ownFault.test(why) && !untrue?.test(why) ? 'refused' : 'unhelpful';
}

/** Runs all probes with one variation of the service. */
export async function judgeVariation(
  variation: Variation,
  asked: readonly Probe[] = probes,
): Promise<Cell[]> {
  const session = await openSession(variation);
  const cells: Cell[] = [];
  try {
    for (const probe of asked) {
      const before = session.service.requests();
      const judged = await probe.run(session);
      cells.push({
        variation: variation.name,
        probe: probe.name,
        result: resultOf(judged, variation, probe.name),
        why: judged.why,
        requests: session.service.requests() - before,
      });
    }
  } finally {
    await session.close();
  }
  return cells;
}

/** Results that are not acceptable. */
const faults = ['wrong', 'unhelpful', 'quiet'] as const satisfies readonly Result[];
export type Fault = (typeof faults)[number];
export type Deviations = Partial<Record<Fault, readonly string[]>>;

const isFault = (result: Result): result is Fault => (faults as readonly Result[]).includes(result);

/** The unacceptable results of one variation: probes by fault. */
export function deviationsIn(cells: readonly Cell[]): Deviations {
  const found = faults.map((fault) => {
    const own = cells.filter(({ result }) => result === fault);
    return [fault, own.map(({ probe }) => probe)] as const;
  });
  return Object.fromEntries(found.filter(([, probes]) => probes.length > 0));
}

/** Whether some answer is partial, as docs/compatibility.md then says. */
export const coversPart = (cells: readonly Cell[]): boolean =>
  cells.some(({ result }) => result === 'partial');

const signs: Record<Result, string> = {
  right: '✓',
  partial: 'part',
  refused: 'error',
  quiet: 'QUIET',
  unhelpful: 'FAILS',
  wrong: '**WRONG**',
};

/** The matrix as a Markdown table: a row a variation, a column a probe. */
export function asMarkdown(variations: readonly Variation[], cells: readonly Cell[]): string {
  const columns = [...new Set(cells.map(({ probe }) => probe))];
  const line = (entries: readonly string[]) => `| ${entries.join(' | ')} |`;
  const rows = variations.map(({ name, does }) => {
    const own = cells.filter(({ variation }) => variation === name);
    const results = columns.map((probe) => {
      const cell = own.find((it) => it.probe === probe);
      return cell ? signs[cell.result] : '';
    });
    const requests = own.reduce((sum, cell) => sum + cell.requests, 0);
    return line([name, does, ...results, String(requests)]);
  });
  const head = ['variation', 'the service', ...columns, 'requests'];
  return [line(head), line(head.map(() => '---')), ...rows].join('\n');
}

/** The reasons for unacceptable results, a line each. */
export const reasons = (cells: readonly Cell[]): string =>
  cells
    .filter(({ result }) => isFault(result))
    .map(({ probe, result, why }) => `${probe}: ${result}: ${why.slice(0, 300)}`)
    .join('\n');
