/** Opportunities that were won, lost or closed in a period. */
import type { ClosedGroup } from '../../../briefs/pipeline/pipeline-groups.ts';
import { type Entry, opensIn } from '../records/entries.ts';
import { RecordPanel } from '../records/panel.tsx';
import { DealPages, showPages } from '../records/rows.tsx';
import type { Arguments } from '../shell/bridge.ts';
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
import { Stacked, Table, type TableColumn } from '../shell/table.tsx';
import type { ViewProps } from '../shell/view.ts';
import type { ClosedPipeline } from './data.ts';
import { isMonth } from './deals.ts';
import { Scope } from './scope.tsx';

const titles = {
  open: 'Opportunities',
  won: 'Won opportunities',
  lost: 'Lost opportunities',
  closed: 'Won and lost opportunities',
} as const;

export function ClosedDeals(props: ViewProps<ClosedPipeline>) {
  const { data, args, host, reload } = props;
  const { day } = useFormats();
  const panel = usePanel<Entry>();
  const { from, to } = data.closed;
  const { sections: _sections, ...list } = args;
  const show: Show = host.canRead
    ? (title, more) => showPages(panel.open, host, title, { ...list, ...more })
    : undefined;
  return (
    <main class="pipeline">
      <Head
        title={titles[data.outcome]}
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
          key={data.coverage?.asOf}
          host={host}
          args={list}
          first={data}
          open={(rows) => opensIn(panel.open, 'opportunity', rows)}
        />
      </Section>
      <Notes notes={data.notes} />
      <RecordPanel panel={panel} host={host} />
    </main>
  );
}

/** Opens the deals of the view that are narrowed by further arguments. */
type Show = ((title: string, more: Arguments) => void) | undefined;

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
          { label: 'Win rate by count', values: rate },
        ]}
      />
      {outcomeUnknown && (
        <dl class="figures">
          <Figure
            label="Closed, outcome unknown"
            values={[number(outcomeUnknown.count), ...totals(outcomeUnknown.value)]}
          />
        </dl>
      )}
    </>
  );
}

const titleOf = (by: string): string =>
  by.charAt(0).toUpperCase() + by.slice(1).replaceAll('_', ' ');

function ClosedGroups({ data: { by, groups }, show }: PartProps) {
  const count = (title: string, key: 'won' | 'lost'): TableColumn<ClosedGroup> => ({
    title,
    kind: 'num',
    value: (group) => group[key],
    cell: (group, { number }) => number(group[key]),
  });
  const value = (title: string, key: 'wonValue' | 'lostValue'): TableColumn<ClosedGroup> => ({
    title,
    kind: key === 'wonValue' ? 'main' : 'num',
    cell: (group, { amounts }) => <Stacked lines={amounts(group[key])} />,
  });
  const columns: TableColumn<ClosedGroup>[] = [
    {
      title: titleOf(by),
      cell: ({ name = '–' }, { month }) => <bdi>{isMonth(name) ? month(name) : name}</bdi>,
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
  const isFilter = ['owner', 'company', 'category', 'source'].includes(by);
  return (
    <Section id="groups" title={`By ${by.replaceAll('_', ' ')}`}>
      <Table
        label="Groups"
        columns={columns}
        rows={groups.rows}
        keyOf={({ id, name = '' }) => id ?? name}
        open={
          show && isFilter ? ({ id, name }) => show(name ?? by, { [by]: id ?? name }) : undefined
        }
      />
    </Section>
  );
}
