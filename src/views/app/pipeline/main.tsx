import './style.css';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { PipelineBrief } from '../../../briefs/pipeline.ts';
import { useFormats } from '../shell/format.ts';
import {
  Coverage,
  type CoverageData,
  Figure,
  Head,
  Notes,
  Refresh,
  Sums,
} from '../shell/parts.tsx';
import { startView, type ViewProps } from '../shell/start.tsx';
import { Board, type BoardSettings } from './board.tsx';
import { Chart } from './charts.tsx';
import { Controls, Select, type Settings } from './controls.tsx';
import {
  amountIn,
  type Bar,
  type Column,
  columnsOf,
  currenciesOf,
  matchingDeals,
  monthBars,
  type Revenue,
} from './deals.ts';
import { Detail } from './detail.tsx';
import { Groups } from './groups.tsx';
import { type Loaded, useDeals } from './use-deals.ts';

export type PipelineData = PipelineBrief & {
  summary: string;
  notes?: string[];
  coverage?: CoverageData;
};

function PipelineView({ data, args, host, reload }: ViewProps<PipelineData>) {
  const [settings, setSettings] = useState<Settings>(() => startWith(data));
  const [chosen, setChosen] = useState<string>();
  const origin = useRef<HTMLElement | null>(null);
  const loaded = useDeals(host, args, data);
  const choose = (id: string) => {
    origin.current = document.activeElement as HTMLElement | null;
    setChosen(id === chosen ? undefined : id);
  };
  const close = () => {
    setChosen(undefined);
    origin.current?.focus();
  };
  return (
    <main class="pipeline">
      <Head title="Open pipeline" about={<Coverage coverage={data.coverage} />}>
        <Refresh host={host} reload={reload} />
      </Head>
      <Figures data={data} />
      <Controls settings={settings} set={setSettings} deals={loaded.deals} />
      {chosen !== undefined && <Detail id={chosen} host={host} close={close} />}
      <Deals {...{ data, loaded, settings, chosen, choose }} canRead={host.canRead} />
      <Notes notes={data.notes} />
    </main>
  );
}

const startWith = ({ by }: PipelineData): Settings => ({
  by: by === 'owner' ? 'owner' : by === 'close_month' ? 'month' : 'stage',
  measure: { revenue: 'value', weighted: false },
  filter: { owner: '', text: '' },
});

function Figures({ data }: { data: PipelineData }) {
  const { number, percent, amounts, day } = useFormats();
  const { open, overdue, stalled, closingSoon, closed } = data;
  const { winRateByCount, won, lost } = closed;
  return (
    <dl class="figures">
      <Figure
        label="Open"
        value={number(open.count)}
        more={`${number(closingSoon.total)} close by ${day(closingSoon.to)}`}
      />
      <Sums label="Contract value" amounts={open.value} />
      <Sums label="Contract value, weighted" amounts={open.weightedValue} />
      <Sums label="One-time" amounts={open.oneTime} />
      <Sums label="Monthly" amounts={open.monthly} />
      <Figure
        label="Overdue"
        tone={overdue.total > 0 ? 'danger' : undefined}
        value={number(overdue.total)}
        more={amounts(overdue.value).join(' · ')}
      />
      <Figure
        label={`Stalled ${number(stalled.afterDays)} days`}
        tone={stalled.total > 0 ? 'warning' : undefined}
        value={number(stalled.total)}
        more={amounts(stalled.value).join(' · ')}
      />
      <Figure
        label="Win rate"
        value={winRateByCount === undefined ? '–' : percent(winRateByCount)}
        more={`${number(won.count)} won, ${number(lost.count)} lost from ${day(closed.from)} to ${day(closed.to)}`}
      />
    </dl>
  );
}

interface DealsProps {
  data: PipelineData;
  loaded: Loaded;
  settings: Settings;
  chosen: string | undefined;
  choose(id: string): void;
  canRead: boolean;
}

function Deals({ data, loaded, settings, chosen, choose, canRead }: DealsProps) {
  const { by, measure, filter } = settings;
  const found = useMemo(() => matchingDeals(loaded.deals, filter), [loaded.deals, filter]);
  const columns = useMemo(() => columnsOf(found, by, measure), [found, by, measure]);
  if (!canRead || loaded.deals.length === 0) {
    return (
      <>
        <Reading loaded={loaded} found={0} canRead={canRead} />
        <Groups groups={data.groups} by={data.by} measure={measure} />
      </>
    );
  }
  const shown: BoardSettings = {
    by,
    measure,
    today: data.today,
    stalledAfter: data.stalled.afterDays,
  };
  const currencies = currenciesOf(loaded.deals);
  return (
    <>
      <Reading loaded={loaded} found={found.length} canRead={canRead} />
      <Board columns={columns} shown={shown} chosen={chosen} choose={choose} />
      <Charts found={found} {...{ settings, currencies }} today={data.today} />
    </>
  );
}

interface ChartsProps {
  found: Loaded['deals'];
  settings: Settings;
  /** The most frequent first. */
  currencies: readonly string[];
  today: string;
}

const measureNames: Readonly<Record<Revenue, string>> = {
  value: 'Total contract value',
  oneTime: 'One-time revenue',
  monthly: 'Monthly revenue',
};

function Charts({ found, settings: { measure }, currencies, today }: ChartsProps) {
  const { month } = useFormats();
  const [chosen, setChosen] = useState('');
  const currency = chosen || currencies[0] || '';
  const about = `${measureNames[measure.revenue]}${measure.weighted ? ', weighted' : ''}, ${currency}`;
  const stages = columnsOf(
    found.filter((deal) => deal.currency === currency),
    'stage',
    measure,
  ).map((column) => barOf(column, currency));
  return (
    <div class="charts">
      {currencies.length > 1 && (
        <Select
          label="Charts in"
          value={currency}
          options={currencies.map((code) => [code, code])}
          choose={setChosen}
        />
      )}
      <Chart id="funnel" title="Funnel" first="Stage" {...{ about, currency }} bars={stages} />
      <Chart
        id="months"
        title="By closing month"
        first="Month"
        {...{ about, currency }}
        bars={monthBars(found, measure, currency, today)}
        nameOf={(bar) => (/^\d/.test(bar.name) ? month(bar.name) : bar.name)}
      />
    </div>
  );
}

const barOf = ({ key, name, count, sum }: Column, currency: string): Bar => ({
  key,
  name,
  count,
  amount: amountIn(sum, currency),
});

interface ReadingProps {
  loaded: Loaded;
  found: number;
  canRead: boolean;
}

/** How many of the opportunities the board shows; announced when it changes. */
function Reading({ loaded, found, canRead }: ReadingProps) {
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
  return (
    <p role="status" class="about">
      {words}
    </p>
  );
}

startView<PipelineData>({
  name: 'pipeline',
  tool: 'cpq_brief_pipeline',
  is: (data) =>
    'open' in data && ['groups', 'overdue', 'stalled', 'closed'].every((part) => part in data),
  Component: PipelineView,
});
