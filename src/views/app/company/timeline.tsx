import type { Open } from '../records/entries.ts';
import { useFormats } from '../shell/format.ts';
import { Badge, Section } from '../shell/parts.tsx';
import type { TimelineItem } from './timeline-items.ts';

interface Props {
  items: readonly TimelineItem[];
  today: string;
  /** Why events are missing. */
  problem: string | undefined;
  /** Absent where the host lets views call no tools. */
  open: Open | undefined;
}

/**
 * Opportunities on their expected close date, quotes on the day of creation, events on their day; newest first.
 */
export function Timeline({ items, today, problem, open }: Props) {
  const { day } = useFormats();
  const isUpcoming = (item: TimelineItem) => (item.day ?? '') > today;
  const entry = (item: TimelineItem) => <TimelineEntry key={item.key} {...{ item, open }} />;
  return (
    <Section id="timeline" title="Timeline">
      <p class="about" role="status">
        {problem}
      </p>
      {items.length === 0 && <p class="about">No opportunities and no quotes.</p>}
      <ol class="timeline plain">
        {items.filter(isUpcoming).map(entry)}
        <li class="today">
          <span>Today, {day(today)}</span>
        </li>
        {items.filter((item) => !isUpcoming(item)).map(entry)}
      </ol>
    </Section>
  );
}

function TimelineEntry({ item, open }: { item: TimelineItem } & Pick<Props, 'open'>) {
  const { day, money } = useFormats();
  const { id, kind, name, state, tone, changes, amounts, isLate: late } = item;
  const record = kind === 'Quote' ? 'quote' : 'opportunity';
  return (
    <li class={`entry ${kind.toLowerCase()}-entry`}>
      <span class="day">{item.day ? day(item.day) : 'No date'}</span>
      <span class="what">
        <span class="kind">{kind}</span>
        <strong dir="auto">
          {open && id !== undefined ? (
            <button type="button" class="link" onClick={() => open({ kind: record, id, name })}>
              {name}
            </button>
          ) : (
            name
          )}
        </strong>
        <span class="marks">
          <Badge tone={tone}>{state}</Badge>
          {late && <Badge tone="danger">Overdue</Badge>}
        </span>
        {changes.length > 0 && (
          <ul class="changes plain">
            {changes.map((change) => (
              <li key={change} dir="auto">
                {change}
              </li>
            ))}
          </ul>
        )}
      </span>
      <span class="amounts">
        {amounts.map(({ amount, currency, per }) => (
          <span key={per}>
            <bdi>{money(amount, currency)}</bdi> {per}
          </span>
        ))}
      </span>
    </li>
  );
}
