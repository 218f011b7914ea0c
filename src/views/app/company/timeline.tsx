import { useFormats } from '../shell/format.ts';
import { Badge } from '../shell/parts.tsx';
import type { TimelineItem } from './timeline-items.ts';

interface Props {
  items: readonly TimelineItem[];
  today: string;
  /** Why events are missing. */
  problem: string | undefined;
}

/**
 * Opportunities on their expected close date, quotes on the day of creation, events on their day; newest first.
 */
export function Timeline({ items, today, problem }: Props) {
  const { day } = useFormats();
  const upcoming = items.filter((item) => (item.day ?? '') > today);
  const past = items.filter((item) => (item.day ?? '') <= today);
  return (
    <section class="panel" aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <p class="about" role="status">
        {problem}
      </p>
      {items.length === 0 && <p class="about">No opportunities and no quotes.</p>}
      <ol class="timeline plain">
        {upcoming.map((item) => (
          <TimelineEntry key={item.key} item={item} />
        ))}
        <li class="today">
          <span>Today, {day(today)}</span>
        </li>
        {past.map((item) => (
          <TimelineEntry key={item.key} item={item} />
        ))}
      </ol>
    </section>
  );
}

function TimelineEntry({ item }: { item: TimelineItem }) {
  const { day, money } = useFormats();
  const { kind, name, state, tone, changes, amounts, isLate: late } = item;
  return (
    <li class={`entry ${kind.toLowerCase()}-entry`}>
      <span class="day">{item.day ? day(item.day) : 'No date'}</span>
      <span class="what">
        <span class="kind">{kind}</span>
        <strong dir="auto">{name}</strong>
        <span class="marks">
          <Badge tone={tone}>{state}</Badge>
          {late && <Badge tone="danger">Overdue</Badge>}
        </span>
        {changes.length > 0 && <Changes changes={changes} />}
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

function Changes({ changes }: { changes: readonly string[] }) {
  return (
    <ul class="changes plain">
      {changes.map((change) => (
        <li key={change} dir="auto">
          {change}
        </li>
      ))}
    </ul>
  );
}
