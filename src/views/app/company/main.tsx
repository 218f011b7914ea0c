import './style.css';
import {
  type DealRow,
  type Entry,
  type Open,
  partOf,
  stateOf,
  stateTones,
} from '../records/entries.ts';
import { RecordPanel } from '../records/panel.tsx';
import { People } from '../records/people.tsx';
import { opensQuoteIn, QuoteRows, showDeals, showQuotes } from '../records/rows.tsx';
import { Count } from '../shell/chart.tsx';
import { mainCurrencyOf, useFormats } from '../shell/format.ts';
import { usePanel } from '../shell/panel.tsx';
import {
  ActionButton,
  Ask,
  aboutCompany,
  Badge,
  ContactLink,
  Coverage,
  Failed,
  Figure,
  Head,
  Leading,
  Notes,
  Refresh,
  Section,
  Switch,
} from '../shell/parts.tsx';
import { profitSwitch, showsProfit, withProfit } from '../shell/profit.ts';
import { startView } from '../shell/start.tsx';
import { Table } from '../shell/table.tsx';
import { useReload } from '../shell/use-reading.ts';
import type { Host, ViewProps } from '../shell/view.ts';
import type { CompanyData, RelatedData } from './data.ts';
import { Timeline } from './timeline.tsx';
import { nextClosing, type TimelineItem, timelineItems } from './timeline-items.ts';
import { useRelatedData } from './use-related-data.ts';

const everyRow = 50;

function CompanyView({ data, args, host, reload }: ViewProps<CompanyData>) {
  const { company } = data;
  const relatedData = useRelatedData(host, data, args.rows === everyRow ? 100 : 20);
  const items = timelineItems(data, relatedData);
  const panel = usePanel<Entry>(data);
  const open = host.canRead ? panel.open : undefined;
  const omitted = omittedNotes(data, items, relatedData);
  const hasMore = args.rows !== everyRow;
  const { change, problem } = useReload({ reload, data });
  const actions = (
    <>
      {host.canRead && (
        <Switch
          text={profitSwitch}
          on={showsProfit(args)}
          set={(on) => change(withProfit(args, on))}
        />
      )}
      <Refresh host={host} reload={reload} />
      {company.id && (
        <Ask
          host={host}
          text="Ask about this"
          question={aboutCompany}
          about={{ what: 'company', id: company.id, tool: 'cpq_brief_company' }}
        />
      )}
    </>
  );
  return (
    <main class="company">
      <Head
        title={company.name ?? company.id ?? 'Company'}
        badges={<CompanyBadges company={company} />}
        about={<CompanyFacts company={company} host={host} />}
        actions={actions}
      />
      <Failed {...problem} />
      <Figures {...{ data, relatedData, open }} next={nextClosing(items, data.today)} />
      <Timeline items={items} today={data.today} problem={relatedData.problem} open={open} />
      {omitted !== '' && (
        <p class="about actions">
          {omitted}
          {host.canRead && hasMore && (
            <ActionButton
              text="Show all of them"
              busyText="Reading…"
              run={() => reload({ rows: everyRow })}
            />
          )}
        </p>
      )}
      <Quotes {...{ data, host, open }} />
      <div class="columns">
        <People data={data} host={host} />
        <Pricing data={data} />
      </div>
      <Notes notes={data.notes} />
      <Coverage coverage={data.coverage} />
      <RecordPanel panel={panel} host={host} changed={() => void change({})} />
    </main>
  );
}

function omittedNotes(
  { open, quotes }: CompanyData,
  items: readonly TimelineItem[],
  { events, eventsTotal }: RelatedData,
): string {
  const openShown = items.filter(({ isOpen }) => isOpen).length;
  const cut = [
    open && openShown < open.total && `${openShown} of ${open.total} open opportunities`,
    quotes && quotes.shown < quotes.total && `${quotes.shown} of ${quotes.total} quotes`,
    events.length < eventsTotal && `${events.length} of ${eventsTotal} events`,
  ].filter(Boolean);
  return cut.length > 0 ? `Shown here: ${cut.join(', ')}.` : '';
}

function CompanyBadges({ company: { deleted, type, labels = [] } }: Pick<CompanyData, 'company'>) {
  return (
    <>
      {deleted && <Badge tone="danger">Deleted</Badge>}
      {type && <Badge>{type}</Badge>}
      {labels.map((label) => (
        <Badge key={label}>{label}</Badge>
      ))}
    </>
  );
}

function CompanyFacts({ company, host }: Pick<CompanyData, 'company'> & { host: Host }) {
  const { website, telephone, address, externalIdentifier, accountManager } = company;
  const identifier = externalIdentifier && `External identifier: ${externalIdentifier}`;
  const manager = accountManager && `Account manager: ${accountManager}`;
  const facts = [address, identifier, manager].filter(Boolean);
  return (
    <span class="card-facts">
      {website && <ContactLink {...{ host }} text={website} />}
      {telephone && <ContactLink {...{ host }} kind="tel" text={telephone} />}
      {facts.map((fact) => (
        <bdi key={fact}>{fact}</bdi>
      ))}
    </span>
  );
}

interface FiguresProps {
  data: CompanyData;
  relatedData: RelatedData;
  next: string | undefined;
  /** Absent where the host lets views call no tools. */
  open: Open | undefined;
}

/** Opens the deals that a figure counts, or nothing. */
const opening = (
  show: Open | undefined,
  label: string,
  rows: readonly DealRow[],
  count = rows.length,
): (() => void) | undefined =>
  show && count > 0 && rows.length === count ? () => showDeals(show, label, rows) : undefined;

function Figures({ data, relatedData, next, open: show }: FiguresProps) {
  const { totals, day, number } = useFormats();
  const { open, closed, recentActivity } = data;
  const { won, lost } = closed ?? {};
  const overdue = open?.overdue ? `${number(open.overdue)} overdue` : undefined;
  const [latest] = recentActivity?.rows ?? [];
  const due = (open?.rows ?? []).filter(({ closes }) => closes !== undefined && closes === next);
  const counted = (label: 'Won' | 'Lost', { count, value }: NonNullable<typeof won>) => {
    const rows = relatedData.opportunities.filter(({ outcome }) => outcome === label.toLowerCase());
    return {
      label,
      values: [number(count), ...totals(value)],
      open: opening(show, label, rows, count),
    };
  };
  return (
    <>
      {open && <OpenFigures open={open} show={show} />}
      <dl class="figures">
        {won && <Figure {...counted('Won', won)} tone="good" />}
        {lost && <Figure {...counted('Lost', lost)} />}
        {open && (
          <Figure
            label="Next expected close"
            values={next === undefined ? [] : [day(next)]}
            more={overdue}
            tone={overdue === undefined ? undefined : 'danger'}
            open={opening(show, 'Next expected close', due)}
          />
        )}
        {recentActivity && (
          <Figure
            label="Last activity"
            values={latest ? [day(latest.day)] : []}
            more={
              latest ? `${latest.kind} ${latest.what}` : `none since ${day(recentActivity.from)}`
            }
          />
        )}
      </dl>
    </>
  );
}

interface OpenFiguresProps {
  open: NonNullable<CompanyData['open']>;
  show: Open | undefined;
}

function OpenFigures({ open: { rows, total, ...sums }, show }: OpenFiguresProps) {
  const { totals, number } = useFormats();
  const count = 'Open opportunities';
  const open = opening(show, count, rows, total);
  const amounts = [
    { label: 'Open total contract value', values: totals(sums.value), open },
    { label: 'Weighted by probability', values: totals(sums.weightedValue), open },
  ];
  const profit = { label: 'Profit', values: totals(sums.profit) };
  const all = [
    ...(total > 0 ? amounts : []),
    { label: count, values: [number(total)], open },
    ...(profit.values.length > 0 ? [profit] : []),
  ];
  return <Leading figures={all} />;
}

type QuotesProps = { data: CompanyData; host: Host } & Pick<FiguresProps, 'open'>;

/** The quotes, and what those of each status and currency are worth in all. */
function Quotes({ data: { company, quotes, today }, host, open }: QuotesProps) {
  const { number, money } = useFormats();
  if (!quotes || quotes.byStatus.length === 0) return null;
  type Group = (typeof quotes.byStatus)[number];
  const revenue = (title: string, key: 'oneTime' | 'monthly' | 'yearly') => ({
    title,
    kind: 'num' as const,
    cell: (group: Group) => group[key] !== undefined && money(group[key], group.currency),
  });
  const opens = (group: Group) => {
    const { status, acceptance, currency } = group;
    const call = { company: company.id, status, acceptance, currency };
    return open && host.lists('cpq_brief_quotes') && company.id !== undefined
      ? () => showQuotes(open, host, `Quotes: ${stateOf(group)}`, call)
      : undefined;
  };
  return (
    <Section id="quotes" title={`Quotes: ${number(quotes.total)}`}>
      <Table
        label="Quotes by status"
        rows={quotes.byStatus}
        keyOf={(group) => `${stateOf(group)} ${group.currency}`}
        columns={[
          {
            title: 'Status',
            cell: (group) => <Badge tone={stateTones[stateOf(group)]}>{stateOf(group)}</Badge>,
          },
          {
            title: 'Quotes',
            kind: 'num',
            cell: (group) => (
              <Count text={number(group.count)} name={stateOf(group)} open={opens(group)} />
            ),
          },
          revenue('One-time', 'oneTime'),
          revenue('Monthly', 'monthly'),
          revenue('Yearly', 'yearly'),
        ]}
      />
      <h3>{`${number(quotes.shown)} of ${number(quotes.total)} quotes`}</h3>
      <QuoteRows rows={quotes.rows} today={today} open={open && opensQuoteIn(open, quotes.rows)} />
    </Section>
  );
}

/** The pricing books and discounts that apply. */
function Pricing({ data: { discountGroups, pricingBooks } }: { data: CompanyData }) {
  const formats = useFormats();
  const lists = [
    ['Pricing books', pricingBooks],
    ['Discounts', discountGroups],
  ] as const;
  const filled = lists.flatMap(([title, list]) =>
    list && list.rows.length > 0
      ? [
          [
            `${title}: ${partOf(list, formats)}`,
            list.rows.map(({ name, id }) => name ?? id),
          ] as const,
        ]
      : [],
  );
  if (filled.length === 0) return null;
  return (
    <Section id="pricing" title="Pricing">
      <ul class="rows plain">
        {filled.map(([title, names]) => (
          <li key={title}>
            <strong>{title}</strong>
            <span dir="auto">{names.filter(Boolean).join(' · ')}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

startView<CompanyData, CompanyData>({
  name: 'company',
  tool: 'cpq_brief_company',
  about: 'company',
  is: (data) => 'company' in data,
  prepare: (data) => data,
  mainCurrency: ({ company, open }) =>
    company.currency ?? mainCurrencyOf(open?.countByCurrency ?? open?.value),
  Component: CompanyView,
});
