import './style.css';
import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { useFormats } from '../shell/format.ts';
import { Coverage, Figure, Head, Leading, Notes, Refresh } from '../shell/parts.tsx';
import { showsProfit, withProfit } from '../shell/profit.ts';
import { startView, type ViewProps } from '../shell/start.tsx';
import { useNarrow } from '../shell/use-narrow.ts';
import { Board } from './board.tsx';
import { Changes } from './changes.tsx';
import { Charts } from './charts.tsx';
import { ClosedDeals } from './closed.tsx';
import { attentions, Controls, Select, type Settings } from './controls.tsx';
import { isOpen, mainCurrency, type OpenPipeline, type PipelineData } from './data.ts';
import {
  type BoardSettings,
  columnsOf,
  currenciesOf,
  type Deadlines,
  type Filter,
  type Measure,
  matchingDeals,
  type Revenue,
} from './deals.ts';
import { Detail } from './detail.tsx';
import { Groups } from './groups.tsx';
import { Scope } from './scope.tsx';
import { DealTable } from './table.tsx';
import { Trend } from './trend.tsx';
import { type Loaded, useDeals } from './use-deals.ts';

function PipelineView({ data, ...props }: ViewProps<PipelineData>) {
  return isOpen(data) ? (
    <OpenDeals data={data} {...props} />
  ) : (
    <ClosedDeals data={data} {...props} />
  );
}

function OpenDeals(props: ViewProps<OpenPipeline>) {
  const { data, args, host, reload } = props;
  const [settings, setSettings] = useState<Settings>(() => startWith(data));
  const selection = useSelection();
  const loaded = useDeals(host, args, data);
  const profit = host.canRead
    ? { on: showsProfit(args), set: (on: boolean) => void reload(withProfit(args, on)) }
    : undefined;
  const { selected, close } = selection;
  return (
    <main class="pipeline">
      <Head
        title="Open pipeline"
        about={<Coverage coverage={data.coverage} />}
        actions={<Refresh host={host} reload={reload} />}
      >
        <Scope {...props} />
      </Head>
      <Figures
        data={data}
        trend={
          loaded.settled && (
            <Trend {...{ host, args }} answer={data} currency={mainCurrency(data)} />
          )
        }
      />
      {data.open.count > 0 && (
        <Controls
          settings={settings}
          set={setSettings}
          deals={loaded.deals}
          hasCards={host.canRead}
          profit={profit}
        />
      )}
      {selected !== undefined && (
        <Detail
          key={selected}
          id={selected}
          deal={loaded.deals.find(({ id }) => id === selected)}
          {...{ host, close }}
        />
      )}
      <Deals {...{ ...props, loaded, settings, setSettings, selection }} />
      <Notes notes={data.notes} />
    </main>
  );
}

/** Which card is open; closing it returns the focus to the card. */
function useSelection() {
  const [selected, setSelected] = useState<string>();
  const origin = useRef<HTMLElement | null>(null);
  const select = (id: string) => {
    origin.current = document.activeElement as HTMLElement | null;
    setSelected(id === selected ? undefined : id);
  };
  const close = () => {
    setSelected(undefined);
    origin.current?.focus();
  };
  return { selected, select, close };
}

const noFilter: Filter = { owner: '', text: '', attention: '' };

const startWith = ({ by }: OpenPipeline): Settings => ({
  layout: 'board',
  by: by === 'owner' ? 'owner' : by === 'close_month' ? 'month' : 'stage',
  order: 'value',
  measure: { revenue: 'value', weighted: false },
  filter: noFilter,
});

function Figures({ data, trend }: { data: OpenPipeline; trend: ComponentChildren }) {
  const { number, percent, amounts, day } = useFormats();
  const { open, overdue, stalled, closingSoon, closed } = data;
  const { winRatePercent, won, lost } = closed;
  const profit = amounts(open.profit);
  return (
    <>
      <Leading
        figures={[
          { label: 'Total contract value', values: amounts(open.value) },
          { label: 'Weighted by probability', values: amounts(open.weightedValue) },
          { label: 'Open opportunities', values: [number(open.count)] },
          ...(profit.length > 0 ? [{ label: 'Profit', values: profit }] : []),
        ]}
      >
        {trend}
      </Leading>
      <dl class="figures">
        <Figure
          label="Overdue"
          tone={overdue.total > 0 ? 'danger' : undefined}
          values={[number(overdue.total), ...amounts(overdue.value)]}
        />
        <Figure
          label={`Closing by ${day(closingSoon.to)}`}
          values={[number(closingSoon.total), ...amounts(closingSoon.value)]}
        />
        <Figure
          label={`Stalled ${number(stalled.afterDays)} days`}
          tone={stalled.total > 0 ? 'warning' : undefined}
          values={[number(stalled.total), ...amounts(stalled.value)]}
        />
        <Figure
          label="Win rate by count"
          values={[winRatePercent === undefined ? '–' : percent(winRatePercent)]}
          more={`${number(won.count)} won, ${number(lost.count)} lost since ${day(closed.from)}`}
        />
      </dl>
    </>
  );
}

interface DealsProps extends ViewProps<OpenPipeline> {
  loaded: Loaded;
  settings: Settings;
  setSettings(settings: Settings): void;
  selection: ReturnType<typeof useSelection>;
}

/** The charts and the list; a narrow page has room for the list only after the charts. */
function Deals(props: DealsProps) {
  const { data, args, host, loaded, settings, setSettings } = props;
  const { measure, filter } = settings;
  const isNarrow = useNarrow();
  const found = useMemo(
    () => matchingDeals(loaded.deals, filter, deadlinesOf(data)),
    [loaded.deals, filter, data],
  );
  if (data.open.count === 0) return <p class="empty">There are no open opportunities here.</p>;
  if (!host.canRead || loaded.deals.length === 0) {
    return (
      <>
        <Reading {...{ loaded, filter }} found={0} canRead={host.canRead} />
        <Groups groups={data.groups} by={data.by} measure={measure} />
      </>
    );
  }
  const about = `${measureNames[measure.revenue]}${measure.weighted ? ', weighted' : ''}`;
  const charts = <Analysis {...{ data, args, host, loaded, found, measure, about }} />;
  const clear = () => setSettings({ ...settings, filter: noFilter });
  return (
    <>
      {isNarrow && found.length > 0 && charts}
      <Reading {...{ loaded, filter, clear }} found={found.length} canRead={host.canRead} />
      {found.length > 0 && <List {...props} found={found} amountTitle={about} />}
      {!isNarrow && found.length > 0 && charts}
    </>
  );
}

const deadlinesOf = ({ today, closingSoon, stalled }: OpenPipeline): Deadlines => ({
  today,
  closingBy: closingSoon.to,
  stalledAfter: stalled.afterDays,
});

interface AnalysisProps
  extends Omit<DealsProps, 'settings' | 'setSettings' | 'selection' | 'reload'> {
  found: Loaded['deals'];
  measure: Measure;
  about: string;
}

/** The charts, all in one currency. */
function Analysis({ data, args, host, loaded, found, measure, about }: AnalysisProps) {
  const { byCurrency } = useFormats();
  const [selected, setSelected] = useState('');
  const currencies = currenciesOf(loaded.deals).toSorted(byCurrency);
  const currency = currencies.includes(selected) ? selected : (currencies[0] ?? '');
  return (
    <section class="stack" aria-label="Charts">
      {currencies.length > 1 && (
        <div class="controls">
          <Select
            label="Charts in"
            value={currency}
            options={currencies.map((code) => [code, code])}
            choose={setSelected}
          />
          <p class="about">Counts cover every currency.</p>
        </div>
      )}
      <Charts deals={found} {...{ measure, about, currency }} today={data.today} />
      {loaded.settled && <Changes {...{ args, host, currency }} answer={data} />}
    </section>
  );
}

const measureNames: Readonly<Record<Revenue, string>> = {
  value: 'Total contract value',
  oneTime: 'One-time revenue',
  monthly: 'Monthly revenue',
};

interface ListProps extends DealsProps {
  found: Loaded['deals'];
  amountTitle: string;
}

function List({ data, args, settings, selection, found, amountTitle }: ListProps) {
  const { layout, by, order, measure } = settings;
  const { selected, select } = selection;
  const { today } = data;
  const shown: BoardSettings = { by, order, measure, ...deadlinesOf(data) };
  const columns = useMemo(
    () => columnsOf(found, { by, measure, today }),
    [found, by, measure, today],
  );
  return layout === 'board' ? (
    <Board columns={columns} settings={shown} {...{ selected, select }} />
  ) : (
    <DealTable
      deals={found}
      settings={shown}
      withProfit={showsProfit(args)}
      {...{ amountTitle, selected, select }}
    />
  );
}

interface ReadingProps {
  loaded: Loaded;
  filter: Filter;
  found: number;
  canRead: boolean;
  /** Removes the filter. */
  clear?(): void;
}

/** How many of the opportunities are shown, and by what they were searched; announced when it changes. */
function Reading({ loaded, filter, found, canRead, clear }: ReadingProps) {
  const { number } = useFormats();
  const { deals, total, complete, failed } = loaded;
  if (!canRead)
    return (
      <p class="about">
        This host shows the figures only: the cards need a host that lets views call tools.
      </p>
    );
  if (failed)
    return (
      <p role="alert" class="failed">
        {failed}
      </p>
    );
  const all = number(total ?? 0);
  const words = complete
    ? `${number(found)} of ${all} open opportunities shown.`
    : total === undefined
      ? 'Reading the opportunities…'
      : `${number(found)} shown; ${number(deals.length)} of ${all} read.`;
  const attention = attentions.find(([it]) => it !== '' && it === filter.attention)?.[1];
  const searched = [
    attention?.toLowerCase(),
    filter.owner && `owner ${filter.owner}`,
    filter.text && `matching “${filter.text}”`,
  ].filter(Boolean);
  return (
    <div class={complete && found === 0 ? 'reading empty' : 'reading'}>
      <p role="status">{words}</p>
      {searched.length > 0 && (
        <>
          <p dir="auto">{`Searched: ${searched.join(', ')}.`}</p>
          <button type="button" onClick={clear}>
            Clear the search
          </button>
        </>
      )}
    </div>
  );
}

startView<PipelineData, PipelineData>({
  name: 'pipeline',
  tool: 'cpq_brief_pipeline',
  is: (data) =>
    'closed' in data &&
    'groups' in data &&
    ('outcome' in data || ['open', 'overdue', 'stalled'].every((part) => part in data)),
  prepare: (data) => data,
  mainCurrency,
  Component: PipelineView,
});
