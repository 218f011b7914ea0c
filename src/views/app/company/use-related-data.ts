/** Data of the timeline that the answer lacks: closed opportunities, and events of the account. */
import { type ReadAnswer, useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import {
  type CompanyData,
  type EventRow,
  type OpportunityRow,
  opportunityFields,
  type RelatedData,
} from './data.ts';

interface Opportunities {
  records?: OpportunityRow[];
  /** Of all rows, where none has its own. */
  currency?: string;
  page?: { total: number };
}

interface Events {
  records: EventRow[];
  page: { total: number };
  coverage: { complete: boolean; reason?: string };
}

/** Reads again whenever the answer changes. Of what fails or is cut, the timeline says so. */
export function useRelatedData(host: Host, data: CompanyData, maxEvents: number): RelatedData {
  const { company, open, quotes } = data;
  const { id } = company;
  const isKnown = host.canRead && id !== undefined;
  const lacksList = !host.lists('cpq_list_opportunities');
  const call = { filters: `company.id:${id}`, size: 100, fields: opportunityFields };
  const listed = useAnswer<Opportunities>(
    host,
    'cpq_list_opportunities',
    isKnown && !lacksList ? call : undefined,
    [data],
  );
  const { records = [], currency } = listed.answer ?? {};
  // A service that ignores the filter sends the opportunities of other companies too.
  const opportunities = records
    .filter((row) => row.companyId === id)
    .map((row) => ({ currency, ...row }));
  const isSettled = lacksList || listed.answer !== undefined || listed.failed !== undefined;
  const known = [company, ...(open?.rows ?? []), ...(quotes?.rows ?? []), ...opportunities];
  const ids = [...new Set(known.flatMap((row) => row.id ?? []))].join('|');
  const hasEvents = isKnown && isSettled && host.lists('cpq_list_events');
  const read = useAnswer<Events>(
    host,
    'cpq_list_events',
    hasEvents ? { id: ids, size: maxEvents } : undefined,
    [data],
  );
  const { records: events = [], page } = read.answer ?? {};
  const problem = problemsOf(listed, read, isKnown && lacksList);
  return { opportunities, events, eventsTotal: page?.total ?? 0, problem };
}

function problemsOf(
  listed: ReadAnswer<Opportunities>,
  events: ReadAnswer<Events>,
  lacksList: boolean,
): string {
  const { records = [], page: { total } = { total: 0 } } = listed.answer ?? {};
  const { complete = true, reason = 'unknown why' } = events.answer?.coverage ?? {};
  const problems = [
    lacksList && 'Closed opportunities are not shown: this server does not list the tool for them.',
    listed.failed && `Closed opportunities could not be read. ${listed.failed}`,
    total > records.length &&
      `Only the first ${records.length} of ${total} opportunities were read.`,
    events.failed && `The events could not be read. ${events.failed}`,
    !complete && `Not all events: ${reason}.`,
  ];
  return problems.filter(Boolean).join(' ');
}
