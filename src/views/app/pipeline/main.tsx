import './style.css';
import { useMemo, useState } from 'preact/hooks';
import type { OpenDeal } from '../../../briefs/pipeline/pipeline.ts';
import { type DealRow, type Entry, opensIn } from '../records/entries.ts';
import { RecordPanel } from '../records/panel.tsx';
import { DealRows, isDecided, showDeals, showPages } from '../records/rows.tsx';
import { Count } from '../shell/chart.tsx';
import { type Formats, useFormats } from '../shell/format.ts';
import { type Opener, usePanel } from '../shell/panel.tsx';
import {
  Coverage,
  Failed,
  Figure,
  Head,
  Leading,
  Notes,
  OwnerChoice,
  Refresh,
  useCurrency,
} from '../shell/parts.tsx';
import { showsProfit, withProfit } from '../shell/profit.ts';
import { Scope } from '../shell/scope.tsx';
import { startView } from '../shell/start.tsx';
import { useNarrow } from '../shell/use-narrow.ts';
import { useReload, useSeen } from '../shell/use-reading.ts';
import type { ViewProps } from '../shell/view.ts';
import { Board } from './board.tsx';
import { Changes, Trend } from './changes.tsx';
import { Charts } from './charts.tsx';
import { ClosedDeals } from './closed.tsx';
import { Controls, type Settings } from './controls.tsx';
import { isOpen, mainCurrency, type OpenPipeline, type PipelineData } from './data.ts';
import {
  type Attention,
  amountOf,
  type BoardSettings,
  type Column,
  columnsOf,
  currenciesOf,
  type Deadlines,
  type Filter,
  figuresOf,
  inOrder,
  matchingDeals,
  needs,
  type Revenue,
} from './deals.ts';
import { Groups } from './groups.tsx';
import { type Loaded, useDeals } from './use-deals.ts';

function PipelineView({ data, ...props }: ViewProps<PipelineData>) {
  return isOpen(data) ? (
    <OpenDeals data={data} {...props} />
  ) : (
    <ClosedDeals data={data} {...props} />
  );
}

/** What every part of the view needs. */
interface Parts extends ViewProps<OpenPipeline> {
  loaded: Loaded;
  /** The deals that the search in the view finds. */
  found: readonly OpenDeal[];
  settings: Settings;
  setSettings(settings: Settings): void;
  panel: Opener<Entry>;
}

function OpenDeals(props: ViewProps<OpenPipeline>) {
  const { data, args, host, reload } = props;
  const [settings, setSettings] = useState<Settings>(() => startWith(data));
  const panel = usePanel<Entry>(data);
  const loaded = useDeals(host, args, data);
  const { filter } = settings;
  const found = useMemo(
    () => matchingDeals(loaded.deals, filter, deadlinesOf(data)),
    [loaded.deals, filter, data],
  );
  // The owner is a filter of the answer itself, so that every figure follows it.
  const { change, problem } = useReload(props);
  const owners = useSeen(
    loaded.deals.map(({ owner }) => owner),
    args.owner,
  );
  const profit = host.canRead
    ? { on: showsProfit(args), set: (on: boolean) => change(withProfit(args, on)) }
    : undefined;
  const parts: Parts = { ...props, loaded, found, settings, setSettings, panel };
  const stages = [...new Set(loaded.deals.flatMap(({ stage }) => stage ?? []))];
  return (
    <main class="pipeline">
      <Head
        title="Open pipeline"
        about={<Coverage coverage={data.coverage} />}
        actions={<Refresh host={host} reload={reload} />}
      >
        <Scope {...props} sample={loaded.deals[0]} more={{ rates: 'Rates' }} />
      </Head>
      <Figures {...parts} />
      {data.open.count > 0 && (
        <Controls
          settings={settings}
          set={setSettings}
          owners={
            <OwnerChoice
              {...{ owners }}
              owner={args.owner}
              choose={(owner) => void change({ owner })}
            />
          }
          hasCards={host.canRead}
          profit={profit}
        />
      )}
      <Failed {...problem} />
      <Deals {...parts} />
      <Notes notes={data.notes} />
      <RecordPanel {...{ panel, host, stages }} changed={() => void change({})} />
    </main>
  );
}

const noFilter: Filter = { text: '', attention: '' };
const isSearching = ({ text, attention }: Filter): boolean => text !== '' || attention !== '';

const startWith = ({ by }: OpenPipeline): Settings => ({
  layout: 'board',
  by: by === 'owner' ? 'owner' : by === 'close_month' ? 'month' : 'stage',
  order: 'value',
  measure: { revenue: 'value', weighted: false },
  filter: noFilter,
});

/** The figures of the answer; where the view is searched, those of what was found. */
function shownFigures({ data, found, settings }: Parts) {
  const { open, overdue, stalled, closingSoon, unknown } = data;
  if (isSearching(settings.filter)) return figuresOf(found, deadlinesOf(data));
  const counted = ({ total, value }: typeof overdue) => ({ count: total, value: value ?? {} });
  return {
    open: { ...open, withoutAmount: unknown?.revenue ?? 0 },
    overdue: counted(overdue),
    closing: counted(closingSoon),
    stalled: counted(stalled),
  };
}

function Figures(parts: Parts) {
  const { data, args, host, loaded, found, settings, panel } = parts;
  const formats = useFormats();
  const { number, counted, totals, day } = formats;
  const { open, overdue, closing, stalled } = shownFigures(parts);
  const isSearched = isSearching(settings.filter);
  // While the deals are read again, those of before are shown, which the figures do not count.
  const opens = (label: string, which: (deal: OpenDeal) => boolean = () => true) => {
    const deals = loaded.complete ? found.filter(which) : [];
    return deals.length > 0 ? () => showDeals(panel.open, label, deals) : undefined;
  };
  const figure = (label: string, values: string[], which?: (deal: OpenDeal) => boolean) => ({
    label,
    values,
    open: opens(label, which),
  });
  const attention = (label: string, key: Attention, { count, value }: typeof overdue) =>
    figure(label, [number(count), ...totals(value)], (deal) => needs[key](deal, deadlinesOf(data)));
  const unknown = 'Without an amount';
  const without = open.withoutAmount > 0 && (
    <>
      <Count
        text={number(open.withoutAmount)}
        name={unknown}
        open={opens(unknown, ({ value }) => value === undefined)}
      />
      {' of them without an amount'}
    </>
  );
  const profit = isSearched ? [] : totals(data.open.profit);
  const isWeighted = ({ probability }: OpenDeal) => probability !== undefined;
  return (
    <>
      <Leading
        figures={[
          figure('Total contract value', totals(open.value)),
          figure('Weighted by probability', totals(open.weightedValue), isWeighted),
          { ...figure('Open opportunities', [number(open.count)]), more: without },
          ...(profit.length > 0 ? [{ label: 'Profit', values: profit }] : []),
          ...(data.target && !isSearched ? [targetFigure(data.target, formats)] : []),
        ]}
      >
        {loaded.settled && !isSearched && args.rates === undefined && (
          <Trend {...{ host, args }} answer={data} currency={mainCurrency(data)} />
        )}
      </Leading>
      <dl class="figures">
        <Figure
          tone={overdue.count > 0 ? 'danger' : undefined}
          {...attention('Overdue', 'overdue', overdue)}
        />
        <Figure {...attention(`Closing by ${day(data.closingSoon.to)}`, 'closing', closing)} />
        <Figure
          tone={stalled.count > 0 ? 'warning' : undefined}
          {...attention(`Stalled ${counted(data.stalled.afterDays, 'day')}`, 'stalled', stalled)}
        />
        <WinRate {...parts} />
      </dl>
    </>
  );
}

const targetFigure = (
  { target, gap, coverage }: NonNullable<OpenPipeline['target']>,
  { totals, number }: Formats,
) => {
  // The target is in one currency.
  const [[code = '', missing = 0] = []] = Object.entries(gap);
  const covered = coverage === undefined ? '' : `, covered ${number(coverage)} times by open deals`;
  return {
    label: missing > 0 ? 'Missing to the target' : 'Above the target',
    values: totals({ [code]: Math.abs(missing) }),
    more: `of ${totals(target).join()}${covered}`,
  };
};

function WinRate({ data, args, host, settings, panel }: Parts) {
  const { number, percent, day } = useFormats();
  const { winRatePercent, won, lost, from, to } = data.closed;
  const {
    stage: _stage,
    close_from: _from,
    close_to: _to,
    stalled_days: _days,
    sections: _sections,
    by: _by,
    ...rest
  } = args;
  const closed = { ...rest, outcome: 'closed', period_from: from, period_to: to };
  const period = to < data.today ? `from ${day(from)} to ${day(to)}` : `since ${day(from)}`;
  const title = `Won and lost ${period}`;
  const open = () => showPages(panel.open, host, title, closed, isDecided);
  const all = isSearching(settings.filter) ? ', whatever is searched' : '';
  return (
    <Figure
      label="Win rate by count"
      values={[winRatePercent === undefined ? '–' : percent(winRatePercent)]}
      more={`${number(won.count)} won, ${number(lost.count)} lost ${period}${all}`}
      open={host.canRead && won.count + lost.count > 0 ? open : undefined}
    />
  );
}

/** Groups of the answer that the board has as columns. */
const boardGroups: readonly string[] = ['stage', 'owner', 'close_month'];

/** The charts and the list; a narrow page has room for the list only after the charts. */
function Deals(parts: Parts) {
  const { data, host, loaded, found, settings, setSettings } = parts;
  const isNarrow = useNarrow();
  if (data.open.count === 0) return <p class="empty">There are no open opportunities here.</p>;
  const groups = <Groups groups={data.groups} by={data.by} measure={settings.measure} />;
  if (!host.canRead || loaded.deals.length === 0) {
    return (
      <>
        <Reading {...parts} />
        {groups}
      </>
    );
  }
  const clear = () => setSettings({ ...settings, filter: noFilter });
  const charts = found.length > 0 && <Analysis {...parts} />;
  return (
    <>
      {isNarrow && charts}
      <Reading {...parts} clear={clear} />
      {found.length > 0 && <List {...parts} />}
      {!boardGroups.includes(data.by) && !isSearching(settings.filter) && groups}
      {!isNarrow && charts}
    </>
  );
}

const deadlinesOf = ({ today, closingSoon, stalled }: OpenPipeline): Deadlines => ({
  today,
  closingBy: closingSoon.to,
  stalledAfter: stalled.afterDays,
});

/** The charts, all in one currency. */
function Analysis({ data, args, host, loaded, found, settings, panel }: Parts) {
  const { byCurrency } = useFormats();
  const { currency, choice } = useCurrency(currenciesOf(loaded.deals).toSorted(byCurrency));
  const isSearched = isSearching(settings.filter);
  const { open } = panel;
  const { today } = data;
  return (
    <section class="stack" aria-label="Charts">
      {choice}
      <Charts
        deals={found}
        measure={settings.measure}
        about={aboutAmounts(settings)}
        {...{ today, currency, open }}
      />
      {loaded.settled && host.lists('cpq_pipeline_changes') && (
        <Changes {...{ args, host, currency, isSearched, open }} answer={data} />
      )}
    </section>
  );
}

const measureNames: Readonly<Record<Revenue, string>> = {
  value: 'Total contract value',
  oneTime: 'One-time revenue',
  monthly: 'Monthly revenue',
};

const aboutAmounts = ({ measure }: Settings): string =>
  `${measureNames[measure.revenue]}${measure.weighted ? ', weighted' : ''}`;

function List({ data, settings, panel, found }: Parts) {
  const { layout, by, order, measure } = settings;
  const { entry } = panel;
  const { today, groups } = data;
  const shown: BoardSettings = { by, order, measure, ...deadlinesOf(data) };
  const columns = useMemo((): Column[] => {
    const groupOf = new Map(groups.rows.map((group) => [group.name, group]));
    const isKnown = by === 'stage' && data.by === 'stage';
    return columnsOf(found, { by, measure, today }).map((column) => {
      const group = isKnown ? groupOf.get(column.name) : undefined;
      // They are of all deals of one stage; another may have its name.
      return {
        ...column,
        daysInStage: group?.count === column.count ? group?.daysInStage : undefined,
      };
    });
  }, [found, by, measure, today]);
  const selected = entry?.kind === 'opportunity' ? entry.id : undefined;
  const select = (
    id: string,
    among: readonly DealRow[] = columns.flatMap(({ deals }) => inOrder(deals, order, measure)),
  ) => {
    if (id === selected) return panel.close();
    const deal = found.find((it) => it.id === id);
    opensIn(panel.open, 'opportunity', among)(deal ?? { id });
  };
  const amount = { title: aboutAmounts(settings), of: (deal: DealRow) => amountOf(deal, measure) };
  return layout === 'board' ? (
    <Board columns={columns} settings={shown} {...{ selected, select }} />
  ) : (
    <section aria-labelledby="board" class="board-section">
      <h2 id="board">Opportunities</h2>
      <DealRows
        key={amount.title}
        rows={found}
        deadlines={shown}
        {...{ amount, selected }}
        open={({ id }, sorted) => id !== undefined && select(id, sorted)}
      />
    </section>
  );
}

/** How many of the opportunities are shown; announced when it changes. */
function Reading({ loaded, settings: { filter }, found, host, clear }: Parts & { clear?(): void }) {
  const { complete, failed, retry } = loaded;
  const formats = useFormats();
  const searched = [filter.attention, filter.text && `“${filter.text}”`].filter(Boolean);
  if (!host.canRead)
    return <p class="about">Only the figures: this host lets views call no tools.</p>;
  if (failed) return <Failed reason={failed} retry={retry} />;
  return (
    <div class={complete && found.length === 0 ? 'reading empty' : 'reading'}>
      <p role="status">{progressOf(loaded, found.length, formats)}</p>
      {searched.length > 0 && (
        <button type="button" onClick={clear}>
          {`Clear the search: ${searched.join(', ')}`}
        </button>
      )}
    </div>
  );
}

function progressOf(
  { deals, total, complete }: Loaded,
  found: number,
  { number }: Formats,
): string {
  const all = number(total ?? 0);
  if (complete) return `${number(found)} of ${all} open opportunities shown.`;
  return total === undefined
    ? 'Reading the opportunities…'
    : `${number(found)} shown; ${number(deals.length)} of ${all} read.`;
}

startView<PipelineData, PipelineData>({
  name: 'pipeline',
  tool: 'cpq_brief_pipeline',
  waiting: 'Reading every opportunity; the first time this can take half a minute…',
  is: (data) =>
    'closed' in data &&
    'groups' in data &&
    ('outcome' in data || ['open', 'overdue', 'stalled'].every((part) => part in data)),
  prepare: (data) => data,
  mainCurrency,
  Component: PipelineView,
});
