import './style.css';
import { mainCurrencyOf, useFormats } from '../shell/format.ts';
import {
  ActionButton,
  Ask,
  Badge,
  Coverage,
  Figure,
  type FigureProps,
  Head,
  Leading,
  Notes,
  questionAbout,
  Refresh,
  Switch,
} from '../shell/parts.tsx';
import { profitSwitch, showsProfit, withProfit } from '../shell/profit.ts';
import { startView, type ViewProps } from '../shell/start.tsx';
import { type CompanyData, describeState, type RelatedData } from './data.ts';
import { Timeline } from './timeline.tsx';
import { amountsOf, nextClosing, type TimelineItem, timelineItems } from './timeline-items.ts';
import { useRelatedData } from './use-related-data.ts';

const everyRow = 50;

function CompanyView({ data, args, host, reload }: ViewProps<CompanyData>) {
  const { company } = data;
  const relatedData = useRelatedData(host, data, args.rows === everyRow ? 100 : 20);
  const items = timelineItems(data, relatedData);
  const omitted = omittedNotes(data, items, relatedData);
  const hasMore = omitted !== '' && args.rows !== everyRow;
  const actions = (
    <>
      {host.canRead && (
        <Switch
          text={profitSwitch}
          on={showsProfit(args)}
          set={(on) => void reload(withProfit(args, on))}
        />
      )}
      {host.canRead && hasMore && (
        <ActionButton text="Show more" busyText="Reading…" run={() => reload({ rows: everyRow })} />
      )}
      <Refresh host={host} reload={reload} />
      {company.id && (
        <Ask host={host} text="Ask about this" question={() => assistantQuestion(data)} />
      )}
    </>
  );
  return (
    <main class="company">
      <Head
        title={company.name ?? company.id ?? 'Company'}
        badges={<CompanyBadges company={company} />}
        about={<CompanyFacts company={company} />}
        actions={actions}
      />
      <Figures data={data} next={nextClosing(items, data.today)} />
      <Timeline items={items} today={data.today} problem={relatedData.problem} />
      <p class="about">{omitted}</p>
      <Quotes data={data} />
      <div class="columns">
        <People data={data} />
        <Pricing data={data} />
      </div>
      <Notes notes={data.notes} />
      <Coverage coverage={data.coverage} />
    </main>
  );
}

const assistantQuestion = ({ company }: CompanyData): string =>
  questionAbout(
    'company',
    company,
    'what is worth knowing before I call them?',
    'cpq_brief_company',
  );

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

function CompanyFacts({ company }: Pick<CompanyData, 'company'>) {
  const { website, telephone, address, externalIdentifier, accountManager } = company;
  const identifier = externalIdentifier && `External identifier: ${externalIdentifier}`;
  const manager = accountManager && `Account manager: ${accountManager}`;
  const facts = [website, telephone, address, identifier, manager].filter(Boolean);
  return (
    <span class="card-facts">
      {facts.map((fact) => (
        <bdi key={fact}>{fact}</bdi>
      ))}
    </span>
  );
}

function Figures({ data, next }: { data: CompanyData; next: string | undefined }) {
  const { amounts, day, number } = useFormats();
  const { open, closed, recentActivity } = data;
  const { won, lost } = closed ?? {};
  const overdue = open?.overdue ? `${number(open.overdue)} overdue` : undefined;
  const [latest] = recentActivity?.rows ?? [];
  return (
    <>
      {open && <OpenFigures open={open} />}
      <dl class="figures">
        {won && (
          <Figure label="Won" tone="good" values={[number(won.count), ...amounts(won.value)]} />
        )}
        {lost && <Figure label="Lost" values={[number(lost.count), ...amounts(lost.value)]} />}
        {open && (
          <Figure
            label="Next expected close"
            values={next === undefined ? [] : [day(next)]}
            more={overdue}
            tone={overdue === undefined ? undefined : 'danger'}
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

function OpenFigures({ open }: { open: NonNullable<CompanyData['open']> }) {
  const { amounts, number } = useFormats();
  if (open.total === 0)
    return <Leading figures={[{ label: 'Open opportunities', values: ['0'] }]} />;
  const figures: FigureProps[] = [
    { label: 'Open total contract value', values: amounts(open.value) },
    { label: 'Weighted by probability', values: amounts(open.weightedValue) },
    { label: 'Open opportunities', values: [number(open.total)] },
  ];
  const profit = amounts(open.profit);
  return (
    <Leading
      figures={profit.length > 0 ? [...figures, { label: 'Profit', values: profit }] : figures}
    />
  );
}

function People({ data: { contacts } }: { data: CompanyData }) {
  if (!contacts || contacts.rows.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="people">
      <h2 id="people">Contacts</h2>
      <ul class="rows plain">
        {contacts.rows.map(({ id, name, email, phone }) => (
          <li key={id}>
            <strong dir="auto">{name ?? email ?? id}</strong>
            <span dir="auto">
              {[name && email, phone].filter(Boolean).join(' · ') || 'no email or phone'}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Grouped by status and currency: what each group is worth, and its quotes. */
function Quotes({ data: { quotes } }: { data: CompanyData }) {
  const { number } = useFormats();
  if (!quotes || quotes.byStatus.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="quotes">
      <h2 id="quotes">{`Quotes: ${number(quotes.total)}`}</h2>
      <div class="quote-groups">
        {quotes.byStatus.map((group) => (
          <QuoteGroup
            key={`${describeState(group)} ${group.currency}`}
            group={group}
            rows={quotes.rows.filter(
              (row) =>
                describeState(row) === describeState(group) && row.currency === group.currency,
            )}
          />
        ))}
      </div>
    </section>
  );
}

interface QuoteGroupProps {
  group: NonNullable<CompanyData['quotes']>['byStatus'][number];
  rows: NonNullable<CompanyData['quotes']>['rows'];
}

function QuoteGroup({ group, rows }: QuoteGroupProps) {
  const { money, number } = useFormats();
  const { count } = group;
  return (
    <div class="quote-group">
      <h3 dir="auto">{`${describeState(group)}: ${number(count)}`}</h3>
      {amountsOf(group).map(({ amount, currency, per }) => (
        <p key={per}>
          <bdi>{money(amount, currency)}</bdi> {per}
        </p>
      ))}
      <ul class="plain">
        {rows.map((row) => (
          <li key={row.id} dir="auto">
            {[row.number, row.name].filter(Boolean).join(' · ')}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The pricing books and discounts that apply, and the categories never bought. */
function Pricing({ data: { discountGroups, pricingBooks, neverBought } }: { data: CompanyData }) {
  const lists: [string, (string | undefined)[]][] = [
    ['Pricing books', (pricingBooks?.rows ?? []).map(({ name, id }) => name ?? id)],
    ['Discounts', (discountGroups?.rows ?? []).map(({ name, id }) => name ?? id)],
    ['Never bought', neverBought?.categories ?? []],
  ];
  const filled = lists.filter(([, names]) => names.length > 0);
  if (filled.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="pricing">
      <h2 id="pricing">Pricing</h2>
      <ul class="rows plain">
        {filled.map(([title, names]) => (
          <li key={title}>
            <strong>{title}</strong>
            <span dir="auto">{names.filter(Boolean).join(' · ')}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

startView<CompanyData, CompanyData>({
  name: 'company',
  tool: 'cpq_brief_company',
  about: 'company',
  is: (data) => 'company' in data,
  // Contract items are not shown, because they contain profits.
  prepare: ({ contractItems: _contractItems, ...data }) => data,
  mainCurrency: ({ company, open }) =>
    company.currency ?? mainCurrencyOf(open?.countByCurrency ?? open?.value),
  Component: CompanyView,
});
