/** Opportunities that were won, lost or closed in a period. */
import type { ClosedGroup } from '../../../briefs/pipeline/pipeline-groups.ts';
import type { DealRow, Entry } from '../records/entries.ts';
import { RecordPanel } from '../records/panel.tsx';
import { DealPages, isDecided, showPages } from '../records/rows.tsx';
import type { Arguments } from '../shell/bridge.ts';
import { Count } from '../shell/chart.tsx';
import { useFormats } from '../shell/format.ts';
import { usePanel } from '../shell/panel.tsx';
import {
  Coverage,
  Figure,
  type FigureProps,
  Head,
  Leading,
  Notes,
  Refresh,
  Section,
} from '../shell/parts.tsx';
import { Scope } from '../shell/scope.tsx';
import { Table, type TableColumn } from '../shell/table.tsx';
import type { ViewProps } from '../shell/view.ts';
import type { ClosedPipeline } from './data.ts';
import { isMonth } from './deals.ts';

export function ClosedDeals(props: ViewProps<ClosedPipeline>) {
  const { data, args, host, reload } = props;
  const { day } = useFormats();
  const panel = usePanel<Entry>(data);
  const { from, to } = data.closed;
  const { sections: _sections, ...list } = args;
  const show: Show = host.canRead
    ? (title, more, keep) => showPages(panel.open, host, title, { ...list, ...more }, keep)
    : undefined;
  return (
    <main class="pipeline">
      <Head
        title={data.outcome === 'closed' ? 'Won and lost' : titleOf(data.outcome)}
        about={
          <>
            <p>{`Closed from ${day(from)} to ${day(to)}`}</p>
            <Coverage coverage={data.coverage} />
          </>
        }
        actions={<Refresh host={host} reload={reload} />}
      >
        <Scope {...props} sample={data.records?.[0]} />
      </Head>
      <ClosedFigures data={data} show={show} />
      {data.groups.rows.length > 0 && <ClosedGroups data={data} show={show} />}
      <Section id="closed" title="Opportunities">
        <DealPages
          key={JSON.stringify([data.coverage?.asOf, list])}
          {...{ host }}
          args={list}
          first={data}
          open={panel.open}
        />
      </Section>
      <Notes notes={data.notes} />
      <RecordPanel panel={panel} host={host} />
    </main>
  );
}

/** Opens the deals of the view that are narrowed by further arguments. */
type Show =
  | ((title: string, more: Arguments, keep?: (deal: DealRow) => boolean) => void)
  | undefined;

interface PartProps {
  data: ClosedPipeline;
  show: Show;
}

function ClosedFigures({ data: { closed, outcome }, show }: PartProps) {
  const { totals, number, percent } = useFormats();
  const { won, lost, winRatePercent, outcomeUnknown } = closed;
  const days = (mean: number | undefined) =>
    mean === undefined ? '' : ` in ${number(Math.round(mean))} days on average`;
  const figures: FigureProps[] = [
    {
      label: 'Won, total contract value',
      values: totals(won.value),
      more: `${number(won.count)} won${days(won.daysToClose)}`,
      open: show && (() => show('Won', { outcome: 'won' })),
      tone: 'good',
    },
    {
      label: 'Lost, total contract value',
      values: totals(lost.value),
      more: `${number(lost.count)} lost${days(lost.daysToClose)}`,
      open: show && (() => show('Lost', { outcome: 'lost' })),
    },
  ];
  const rate = winRatePercent === undefined ? [] : [percent(winRatePercent)];
  return (
    <>
      <Leading
        figures={[
          ...(outcome === 'lost' ? figures.toReversed() : figures),
          {
            label: 'Win rate by count',
            values: rate,
            open: show && (() => show('Won and lost', { outcome: 'closed' }, isDecided)),
          },
        ]}
      />
      {outcomeUnknown && (
        <dl class="figures">
          <Figure
            label="Closed, outcome unknown"
            values={[number(outcomeUnknown.count), ...totals(outcomeUnknown.value)]}
            open={
              show &&
              (() => show('Closed, outcome unknown', { outcome: 'closed' }, (it) => !isDecided(it)))
            }
          />
        </dl>
      )}
    </>
  );
}

const titleOf = (by: string): string =>
  by.charAt(0).toUpperCase() + by.slice(1).replaceAll('_', ' ');

/** Filters that closed deals have. */
const filterable = ['owner', 'company', 'category', 'source'];

function ClosedGroups({ data: { by, groups }, show }: PartProps) {
  // A group opens its deals where it can be asked for: "no owner" and "2 others" cannot.
  const opens = ({ id, name = '', groups: merged }: ClosedGroup, more: Arguments = {}) =>
    show && filterable.includes(by) && !merged && name !== `no ${by}`
      ? () => show(name, { [by]: id ?? name, ...more })
      : undefined;
  const count = (title: string, key: 'won' | 'lost'): TableColumn<ClosedGroup> => ({
    title,
    kind: 'num',
    value: (group) => group[key],
    cell: (group, { number }) => (
      <Count
        text={number(group[key])}
        name={`${title}, ${group.name ?? ''}`}
        open={group[key] > 0 ? opens(group, { outcome: key }) : undefined}
      />
    ),
  });
  const value = (title: string, key: 'wonValue' | 'lostValue'): TableColumn<ClosedGroup> => ({
    title,
    kind: key === 'wonValue' ? 'main' : 'num',
    cell: (group, { amounts }) =>
      group[key] &&
      amounts(group[key]).map((amount) => (
        <bdi key={amount} class="line">
          {amount}
        </bdi>
      )),
  });
  const columns: TableColumn<ClosedGroup>[] = [
    {
      title: titleOf(by),
      cell: (group, { month }) => {
        const { name = '–' } = group;
        const text = isMonth(name) ? month(name) : name;
        return <Count text={text} name={titleOf(by)} open={opens(group)} />;
      },
    },
    count('Won', 'won'),
    value('Won value', 'wonValue'),
    count('Lost', 'lost'),
    value('Lost value', 'lostValue'),
    {
      title: 'Win rate',
      kind: 'num',
      value: ({ winRatePercent }) => winRatePercent,
      cell: ({ winRatePercent }, { share }) =>
        winRatePercent !== undefined && share(winRatePercent),
    },
  ];
  return (
    <Section id="groups" title={`By ${by.replaceAll('_', ' ')}`}>
      <Table
        label="Groups"
        columns={columns}
        rows={groups.rows}
        keyOf={({ id, name = '' }) => id ?? name}
      />
    </Section>
  );
}
