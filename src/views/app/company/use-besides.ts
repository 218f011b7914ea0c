/** What the time line shows beside the answer: closed opportunities, and what was told of the account. */
import { useEffect, useState } from 'preact/hooks';
import { type Host, messageOf } from '../shell/start.tsx';
import type { CompanyData } from './main.tsx';
import type { EventRow, OpportunityRow } from './moments.ts';

export interface Besides {
  opportunities: readonly OpportunityRow[];
  events: readonly EventRow[];
  /** How many events there are. */
  eventsTotal: number;
  /** Why the events, or some of them, could not be read. */
  trouble?: string | undefined;
}

const nothing: Besides = { opportunities: [], events: [], eventsTotal: 0 };

/** Read again whenever the answer is another one. */
export function useBesides(host: Host, data: CompanyData, mostEvents: number): Besides {
  const [besides, setBesides] = useState(nothing);
  useEffect(() => {
    const reading = { over: false };
    const show = (more: Partial<Besides>) => {
      if (!reading.over) setBesides((before) => ({ ...before, ...more }));
    };
    void readBesides(host, data, mostEvents, show);
    return () => {
      reading.over = true;
    };
  }, [data]);
  return besides;
}

async function readBesides(
  host: Host,
  data: CompanyData,
  mostEvents: number,
  show: (more: Partial<Besides>) => void,
): Promise<void> {
  const { id } = data.company;
  if (!host.canRead || id === undefined) return;
  // The brief's own rows are there in any case.
  const opportunities = await opportunitiesOf(host, id).catch(() => []);
  show({ opportunities });
  if (!host.lists('cpq_list_events')) return;
  const records = [id, ...shownIn(data), ...opportunities.flatMap((row) => row.id ?? [])];
  show(
    await eventsOf(host, records, mostEvents).catch((error: unknown) => ({
      events: [],
      eventsTotal: 0,
      trouble: `The events could not be read. ${messageOf(error)}`,
    })),
  );
}

/** The answer holds the open ones; those that were won and lost are read besides. */
async function opportunitiesOf(host: Host, id: string): Promise<OpportunityRow[]> {
  const asked = { filters: `company.id:${id}`, size: 100 };
  const { records } = await host.read('cpq_list_opportunities', asked);
  // A service that does not know the filter sends those of others, too.
  return ((records ?? []) as OpportunityRow[]).filter((row) => row.companyId === id);
}

const shownIn = ({ open, quotes }: CompanyData): string[] =>
  [...(open?.rows ?? []), ...(quotes?.rows ?? [])].flatMap(({ id }) => id ?? []);

interface EventsPage {
  records: EventRow[];
  page: { total: number };
  coverage: { complete: boolean; reason?: string };
}

async function eventsOf(
  host: Host,
  records: readonly string[],
  size: number,
): Promise<Omit<Besides, 'opportunities'>> {
  const id = [...new Set(records)].join('|');
  const answer = await host.read('cpq_list_events', { id, size });
  const { records: events, page, coverage } = answer as unknown as EventsPage;
  const trouble = coverage.complete ? undefined : `Not all: ${coverage.reason ?? 'unknown why'}.`;
  return { events, eventsTotal: page.total, trouble };
}
