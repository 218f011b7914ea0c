import './style.css';
import { useFormats } from '../shell/format.ts';
import {
  ActionButton,
  Ask,
  Badge,
  Coverage,
  Figure,
  Head,
  Notes,
  Refresh,
  Sums,
} from '../shell/parts.tsx';
import { startView, type ViewProps } from '../shell/start.tsx';
import type { CompanyData, RelatedData } from './data.ts';
import { Timeline } from './timeline.tsx';
import { timelineItems } from './timeline-items.ts';
import { useRelatedData } from './use-related-data.ts';

const everyRow = 50;

function CompanyView({ data, args, host, reload }: ViewProps<CompanyData>) {
  const { company } = data;
  const relatedData = useRelatedData(host, data, args.rows === everyRow ? 100 : 20);
  const omitted = omittedNotes(data, relatedData);
  const hasMore = omitted !== '' && args.rows !== everyRow;
  return (
    <main class="company">
      <Head title={company.name ?? company.id ?? 'Company'} about={<Card data={data} />}>
        {host.canRead && hasMore && (
          <ActionButton
            text="Show more"
            busyText="Reading…"
            run={() => reload({ rows: everyRow })}
          />
        )}
        <Refresh host={host} reload={reload} />
        {company.id && (
          <Ask host={host} text="Ask about this" question={() => assistantQuestion(data)} />
        )}
      </Head>
      <Figures data={data} />
      <Timeline
        items={timelineItems(data, relatedData)}
        today={data.today}
        problem={relatedData.problem}
      />
      <p class="about">{omitted}</p>
      <div class="columns">
        <People data={data} />
        <Quotes data={data} />
        <Pricing data={data} />
      </div>
      <Notes notes={data.notes} />
      <Coverage coverage={data.coverage} />
    </main>
  );
}

/** Names the company by id only: its name comes from records and must not act as the person's instruction. */
const assistantQuestion = ({ company: { id = '' } }: CompanyData): string =>
  `About the company with the id ${id.replace(/[^\w-]/g, '').slice(0, 64)}: what is worth knowing before I call them? Read it with cpq_brief_company.`;

function omittedNotes({ open, quotes }: CompanyData, { events, eventsTotal }: RelatedData): string {
  const cut = [
    open && open.shown < open.total && `${open.shown} of ${open.total} open opportunities`,
    quotes && quotes.shown < quotes.total && `${quotes.shown} of ${quotes.total} quotes`,
    events.length < eventsTotal && `${events.length} of ${eventsTotal} events`,
  ].filter(Boolean);
  return cut.length > 0 ? `Shown here: ${cut.join(', ')}.` : '';
}

function Card({ data: { company } }: { data: CompanyData }) {
  const { deleted, type, website, telephone, address, labels = [], externalIdentifier } = company;
  const facts = [website, telephone, address, externalIdentifier].filter(Boolean);
  return (
    <span class="card-facts">
      {deleted && <Badge tone="danger">Deleted</Badge>}
      {type && <Badge>{type}</Badge>}
      {labels.map((label) => (
        <Badge key={label}>{label}</Badge>
      ))}
      {facts.map((fact) => (
        <bdi key={fact}>{fact}</bdi>
      ))}
    </span>
  );
}

function Figures({ data }: { data: CompanyData }) {
  const { number, amounts } = useFormats();
  const { open, closed, quotes, contacts } = data;
  const { won, lost } = closed ?? {};
  return (
    <dl class="figures">
      {open && (
        <>
          <Figure
            label="Open opportunities"
            value={number(open.total)}
            tone={open.overdue ? 'danger' : undefined}
            more={open.overdue && `${number(open.overdue)} overdue`}
          />
          <Sums label="Contract value" amounts={open.value} />
          <Sums label="One-time" amounts={open.oneTime} />
          <Sums label="Monthly" amounts={open.monthly} />
        </>
      )}
      {won && (
        <Figure
          label="Won"
          tone="good"
          value={number(won.count)}
          more={amounts(won.value).join(' · ')}
        />
      )}
      {lost && (
        <Figure label="Lost" value={number(lost.count)} more={amounts(lost.value).join(' · ')} />
      )}
      {quotes && <Figure label="Quotes" value={number(quotes.total)} />}
      {contacts && <Figure label="Contacts" value={number(contacts.total)} />}
    </dl>
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

function Quotes({ data: { quotes } }: { data: CompanyData }) {
  const { money, number } = useFormats();
  if (!quotes || quotes.byStatus.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="quotes">
      <h2 id="quotes">Quotes by status</h2>
      <ul class="rows plain">
        {quotes.byStatus.map(({ status, currency, count, oneTime, monthly, yearly }) => (
          <li key={`${status} ${currency}`}>
            <strong dir="auto">{`${status}: ${number(count)}`}</strong>
            <span>
              {[
                oneTime !== undefined && `${money(oneTime, currency)} one-time`,
                monthly !== undefined && `${money(monthly, currency)} monthly`,
                yearly !== undefined && `${money(yearly, currency)} yearly`,
              ]
                .filter(Boolean)
                .join(' · ') || 'no prices'}
            </span>
          </li>
        ))}
      </ul>
    </section>
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

startView<CompanyData>({
  name: 'company',
  tool: 'cpq_brief_company',
  about: 'company',
  is: (data) => 'company' in data,
  Component: CompanyView,
});
