/** The groups of the answer: shown at once, and alone on a host that lets views call no tools. */
import type { PipelineBrief } from '../../../briefs/pipeline/pipeline.ts';
import type { PipelineGroup } from '../../../briefs/pipeline/pipeline-groups.ts';
import { useFormats } from '../shell/format.ts';
import { type Column, isMonth, type Measure } from './deals.ts';

interface Props {
  groups: PipelineBrief['groups'];
  by: PipelineBrief['by'];
  measure: Measure;
}

export function Groups({ groups, by, measure }: Props) {
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">{`By ${by.replaceAll('_', ' ')}`}</h2>
      <ul class="groups plain">
        {groups.rows.map((group) => {
          const name = group.name ?? group.id ?? '';
          const sum = sumOf(group, measure) ?? {};
          return (
            <li key={group.id ?? name} class="column" data-column={name}>
              <ColumnHeading column={{ name, count: group.count, sum }} />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Groups have a weighted amount of the value only. */
function sumOf(group: PipelineGroup, { revenue, weighted }: Measure) {
  if (!weighted) return group[revenue];
  return revenue === 'value' ? group.weightedValue : undefined;
}

type Heading = Pick<Column, 'name' | 'count' | 'sum' | 'daysInStage'>;

/** The name of a column or group, its number of deals, its sum in every currency, and how long its deals are in it. */
export function ColumnHeading({ column }: { column: Heading }) {
  const { month, number, counted, amounts } = useFormats();
  const { name, count, sum, daysInStage } = column;
  const [first, ...others] = amounts(sum);
  return (
    <>
      <h3>
        <span dir="auto" class="title">
          {isMonth(name) ? month(name) : name}
        </span>
        <span class="count">{number(count)}</span>
      </h3>
      <p class="sum">
        <strong>{first ?? '–'}</strong>
        {others.map((other) => (
          <span key={other}>{other}</span>
        ))}
        {daysInStage !== undefined && <span>{`mean ${counted(daysInStage, 'day')} in stage`}</span>}
      </p>
    </>
  );
}
