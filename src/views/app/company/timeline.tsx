import { useFormats } from '../shell/format.ts';
import { Badge } from '../shell/parts.tsx';
import type { Moment } from './moments.ts';

interface Props {
  moments: readonly Moment[];
  today: string;
  /** Why not everything that happened is among them. */
  trouble: string | undefined;
}

/**
 * Opportunities on the day they are expected to close, quotes on the day they were made, events on the day
 * they happened; the latest first.
 */
export function Timeline({ moments, today, trouble }: Props) {
  const { day } = useFormats();
  const ahead = moments.filter((moment) => (moment.day ?? '') > today);
  const past = moments.filter((moment) => (moment.day ?? '') <= today);
  return (
    <section class="panel" aria-labelledby="timeline">
      <h2 id="timeline">Time line</h2>
      <p class="about" role="status">
        {trouble}
      </p>
      {moments.length === 0 && <p class="about">No opportunities and no quotes.</p>}
      <ol class="timeline plain">
        {ahead.map((moment) => (
          <Entry key={moment.key} moment={moment} />
        ))}
        <li class="today">
          <span>Today, {day(today)}</span>
        </li>
        {past.map((moment) => (
          <Entry key={moment.key} moment={moment} />
        ))}
      </ol>
    </section>
  );
}

function Entry({ moment }: { moment: Moment }) {
  const { day, money } = useFormats();
  const { kind, name, state, tone, changes, amounts, late } = moment;
  return (
    <li class={`entry ${kind.toLowerCase()}-entry`}>
      <span class="day">{moment.day ? day(moment.day) : 'No date'}</span>
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
          <span key={per}>{`${money(amount, currency)} ${per}`}</span>
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
