/** Reads every open deal, page by page. */
import { useState } from 'preact/hooks';
import type { OpenDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import { messageOf } from '../../../values.ts';
import type { Arguments } from '../shell/bridge.ts';
import type { CoverageData } from '../shell/parts.tsx';
import { showsProfit } from '../shell/profit.ts';
import type { Host } from '../shell/start.tsx';
import { useReading } from '../shell/use-reading.ts';

export interface Loaded {
  deals: OpenDeal[];
  /** Number of open deals; unknown until the first answer. */
  total: number | undefined;
  complete: boolean;
  /** Reading has ended once; what is shown stays while it is read again. */
  settled: boolean;
  failed: string | undefined;
  coverage: CoverageData | undefined;
}

const noDeals: Loaded = {
  deals: [],
  total: undefined,
  complete: false,
  settled: false,
  failed: undefined,
  coverage: undefined,
};

/** The most cards drawn; the figures above them cover all deals. */
const maxDeals = 3_000;

interface Page {
  records: OpenDeal[];
  page: { total: number; next?: number };
  coverage: CoverageData;
}

/** Reads again whenever `answer`, the result of the view's tool, changes. */
export function useDeals(host: Host, args: Arguments, answer: object): Loaded {
  const [loaded, setLoaded] = useState(noDeals);
  useReading([answer], (isCurrent) => {
    // What is shown stays until everything was read again: a board that empties and fills would lose its place.
    const isFirst = loaded.deals.length === 0;
    const show = (now: Loaded) => {
      if (isFirst || now.settled || now.failed !== undefined) setLoaded(now);
    };
    setLoaded({ ...loaded, complete: false });
    if (host.canRead) void readAllDeals(host, args, isCurrent, show);
  });
  return loaded;
}

/** Deals per call. */
const dealsPerPage = 100;

/** The call for a page of the deals of the view; with profits only if they are shown. */
function pageOf({ sections: _sections, show, ...args }: Arguments, from: number): Arguments {
  const profit = showsProfit({ show }) ? { show: ['profit'] } : {};
  return { ...args, ...profit, deals_from: from, rows: dealsPerPage };
}

async function readAllDeals(
  host: Host,
  args: Arguments,
  isCurrent: () => boolean,
  show: (loaded: Loaded) => void,
): Promise<void> {
  const deals: OpenDeal[] = [];
  let loaded = noDeals;
  // Draws the first page, then each time the number of deals has doubled, because drawing is slow.
  let drawnAt = 0;
  try {
    for (let next: number | undefined = 0; next !== undefined && deals.length < maxDeals; ) {
      const answer: Page = await host.read('cpq_brief_pipeline', pageOf(args, next));
      const { records, page, coverage } = answer;
      if (!isCurrent()) return;
      deals.push(...records);
      next = page.next;
      loaded = { ...noDeals, deals: [...deals], total: page.total, coverage };
      if (next === undefined || deals.length < drawnAt) continue;
      drawnAt = deals.length + deals.length;
      show(loaded);
    }
    if (isCurrent()) show({ ...loaded, complete: deals.length === loaded.total, settled: true });
  } catch (error) {
    if (isCurrent()) show({ ...loaded, failed: messageOf(error) });
  }
}
