/** A record in the panel, or the rows that a figure counts. */
import { useEffect } from 'preact/hooks';
import type { ReadTool } from '../shell/bridge.ts';
import { type Opener, Panel } from '../shell/panel.tsx';
import { Ask, aboutCompany, lookingAt } from '../shell/parts.tsx';
import type { Host } from '../shell/view.ts';
import { CompanyDetails } from './company.tsx';
import type { DealFacts, Entry, RecordKind } from './entries.ts';
import { OpportunityDetails } from './opportunity.tsx';
import { QuoteDetails } from './quote.tsx';

interface Props {
  panel: Opener<Entry>;
  host: Host;
  /** Names of stages that an opportunity can be moved to. */
  stages?: readonly string[];
  /** Called when an opportunity was written. */
  changed?: () => void;
}

const tools = {
  opportunity: 'cpq_get_record',
  quote: 'cpq_brief_quote',
  company: 'cpq_brief_company',
} as const satisfies Record<RecordKind, ReadTool>;

const questionAbout = (kind: RecordKind): string =>
  kind === 'company'
    ? aboutCompany
    : `What should I know about this ${kind}, and what is the best next step?`;

export function RecordPanel({ panel, host, stages = [], changed }: Props) {
  const { entry, replace, open } = panel;
  const shown = entry?.kind === 'rows' ? undefined : entry;
  const looking = shown && { what: shown.kind, id: shown.id, tool: tools[shown.kind] };
  useEffect(() => {
    if (looking) void host.tell(lookingAt(looking));
  }, [shown?.id]);
  if (!entry) return null;
  if (!shown || !looking)
    return (
      <Panel key={entry} title={'title' in entry ? entry.title : ''} panel={panel}>
        {'body' in entry && entry.body()}
      </Panel>
    );
  const { kind, id, among = [] } = shown;
  const at = among.findIndex((other) => other.id === id);
  const goTo = (other: DealFacts | undefined) => {
    const { id: to, name } = other ?? {};
    return to === undefined ? undefined : () => replace({ ...shown, id: to, name, deal: other });
  };
  return (
    <Panel
      title={shown.name ?? kind}
      panel={panel}
      previous={goTo(among[at - 1])}
      next={at < 0 ? undefined : goTo(among[at + 1])}
      actions={
        <Ask
          primary
          host={host}
          text="Ask about this"
          question={questionAbout(kind)}
          about={looking}
        />
      }
    >
      {kind === 'opportunity' && (
        <OpportunityDetails key={id} {...{ id, host, stages, open, changed }} deal={shown.deal} />
      )}
      {kind === 'quote' && <QuoteDetails key={id} {...{ id, host, open }} />}
      {kind === 'company' && <CompanyDetails key={id} {...{ id, host, open }} />}
    </Panel>
  );
}
