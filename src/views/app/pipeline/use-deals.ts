/** Reads every open deal, page by page. */
import { useState } from 'preact/hooks';
import type { OpenDeal } from '../../../briefs/pipeline/pipeline.ts';
import { messageOf } from '../../../values.ts';
import type { Arguments } from '../shell/bridge.ts';
import { showsProfit, withProfit } from '../shell/profit.ts';
import { useReading } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';

export interface Loaded {
  /** The filters that they were read for. */
  filters?: string;
  deals: OpenDeal[];
  /** Number of open deals; unknown until the first answer. */
  total: number | undefined;
  complete: boolean;
  /** Reading has ended once; what is shown stays while it is read again. */
  settled: boolean;
  failed: string | undefined;
  /** Reads again after a failure. */
  retry(): Promise<unknown>;
}

const noDeals: Loaded = {
  deals: [],
  total: undefined,
  complete: false,
  settled: false,
  failed: undefined,
  retry: async () => {},
};

/** The most cards drawn; the figures above them cover all deals. */
const maxDeals = 3_000;

/** Deals per call: a page that only a view reads is larger than an answer for a model. */
const dealsPerPage = 1_000;

interface Page {
  records: OpenDeal[];
  page: { total: number; next?: number };
}

/** Reads again whenever the filters, or `answer`, the result of the view's tool, change. */
export function useDeals(
  host: Host,
  { sections: _sections, show: extras, ...args }: Arguments,
  answer: object,
): Loaded {
  const [all, setLoaded] = useState(noDeals);
  const filters = JSON.stringify(args);
  // What is shown stays until everything was read again: a board that empties and fills would lose its place.
  const loaded = all.filters === filters ? all : noDeals;
  useReading([answer, filters], (isCurrent) => {
    const isFirst = loaded.deals.length === 0;
    const call = { ...args, ...withProfit({}, showsProfit({ show: extras })), rows: dealsPerPage };
    const show = (now: Loaded) => {
      if (isCurrent() && (isFirst || now.settled || now.failed !== undefined))
        setLoaded({ ...now, filters });
    };
    const read = () =>
      readAllDeals(
        (from) => host.read('cpq_pipeline_deals', { ...call, deals_from: from }),
        (now) => show({ ...now, retry: read }),
      );
    setLoaded({ ...loaded, complete: false });
    if (host.canRead) void read();
  });
  return loaded;
}

/** Shows what it has after each page. */
async function readAllDeals(
  read: (from: number) => Promise<Page>,
  show: (loaded: Loaded) => void,
): Promise<void> {
  const deals: OpenDeal[] = [];
  let total: number | undefined;
  const loaded = (): Loaded => ({ ...noDeals, deals: [...deals], total });
  try {
    for (let from: number | undefined = 0; from !== undefined && deals.length < maxDeals; ) {
      const { records, page } = await read(from);
      deals.push(...records);
      total = page.total;
      from = page.next;
      show(loaded());
    }
    show({ ...loaded(), complete: deals.length === total, settled: true });
  } catch (error) {
    show({ ...loaded(), failed: messageOf(error) });
  }
}
