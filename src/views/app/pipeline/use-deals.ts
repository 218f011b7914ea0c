/** Reads every open deal, page by page. */
import { useEffect, useState } from 'preact/hooks';
import type { OpenDeal } from '../../../briefs/pipeline-deals.ts';
import { messageOf } from '../../../values.ts';
import type { Arguments } from '../shell/bridge.ts';
import type { CoverageData } from '../shell/parts.tsx';
import type { Host } from '../shell/start.tsx';

export interface Loaded {
  deals: OpenDeal[];
  /** Number of open deals; unknown until the first answer. */
  total: number | undefined;
  complete: boolean;
  failed: string | undefined;
  coverage: CoverageData | undefined;
}

const noDeals: Loaded = {
  deals: [],
  total: undefined,
  complete: false,
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
  useEffect(() => {
    const reading = { over: false };
    setLoaded(noDeals);
    if (host.canRead) void readAllDeals(host, args, reading, setLoaded);
    return () => {
      reading.over = true;
    };
  }, [answer]);
  return loaded;
}

/** Deals per call. */
const dealsPerPage = 100;

/** The call for a page of the open deals of the view. */
function pageOf({ sections: _sections, show: _show, ...args }: Arguments, from: number): Arguments {
  return { ...args, deals_from: from, rows: dealsPerPage };
}

async function readAllDeals(
  host: Host,
  args: Arguments,
  reading: { over: boolean },
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
      if (reading.over) return;
      deals.push(...records);
      next = page.next;
      loaded = { ...noDeals, deals: [...deals], total: page.total, coverage };
      const isDue = deals.length >= drawnAt;
      if (isDue) drawnAt = deals.length + deals.length;
      if (isDue || next === undefined) show({ ...loaded, complete: next === undefined });
    }
  } catch (error) {
    if (!reading.over) show({ ...loaded, failed: messageOf(error) });
  }
}
