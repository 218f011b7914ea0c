/** Data of the timeline that the answer lacks: closed opportunities, and events of the account. */
import { useState } from 'preact/hooks';
import { messageOf } from '../../../values.ts';
import type { Host } from '../shell/start.tsx';
import { useReading } from '../shell/use-reading.ts';
import {
  type CompanyData,
  type EventRow,
  type OpportunityRow,
  opportunityFields,
  type RelatedData,
} from './data.ts';

const noData: RelatedData = { opportunities: [], events: [], eventsTotal: 0 };

/** Reads again whenever the answer changes. */
export function useRelatedData(host: Host, data: CompanyData, maxEvents: number): RelatedData {
  const [relatedData, setRelatedData] = useState(noData);
  useReading([data], (isCurrent) => {
    void readRelatedData(host, data, maxEvents, (more) => {
      if (isCurrent()) setRelatedData((before) => ({ ...before, ...more }));
    });
  });
  return relatedData;
}

async function readRelatedData(
  host: Host,
  data: CompanyData,
  maxEvents: number,
  show: (more: Partial<RelatedData>) => void,
): Promise<void> {
  const { id } = data.company;
  if (!host.canRead || id === undefined) return;
  // If this fails, the timeline still has the rows of the brief.
  const opportunities = await readOpportunities(host, id).catch(() => []);
  show({ opportunities });
  if (!host.lists('cpq_list_events')) return;
  const records = [id, ...shownIds(data), ...opportunities.flatMap((row) => row.id ?? [])];
  show(
    await readEvents(host, records, maxEvents).catch((error: unknown) => ({
      events: [],
      eventsTotal: 0,
      problem: `The events could not be read. ${messageOf(error)}`,
    })),
  );
}

/** Opportunities of the company, won and lost ones included: the answer has only the open ones. */
async function readOpportunities(host: Host, id: string): Promise<OpportunityRow[]> {
  const response = { filters: `company.id:${id}`, size: 100, fields: opportunityFields };
  const { records } = await host.read<{ records?: OpportunityRow[] }>(
    'cpq_list_opportunities',
    response,
  );
  // A service that ignores the filter sends the opportunities of other companies too.
  return (records ?? []).filter((row) => row.companyId === id);
}

const shownIds = ({ open, quotes }: CompanyData): string[] =>
  [...(open?.rows ?? []), ...(quotes?.rows ?? [])].flatMap(({ id }) => id ?? []);

interface EventsPage {
  records: EventRow[];
  page: { total: number };
  coverage: { complete: boolean; reason?: string };
}

async function readEvents(
  host: Host,
  records: readonly string[],
  size: number,
): Promise<Omit<RelatedData, 'opportunities'>> {
  const id = [...new Set(records)].join('|');
  const answer = await host.read<EventsPage>('cpq_list_events', { id, size });
  const { records: events, page, coverage } = answer;
  const problem = coverage.complete ? undefined : `Not all: ${coverage.reason ?? 'unknown why'}.`;
  return { events, eventsTotal: page.total, problem };
}
