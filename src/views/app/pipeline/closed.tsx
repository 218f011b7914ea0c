/** Opportunities that were won, lost or closed in a period. */
import { useState } from 'preact/hooks';
import type { ClosedDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import type { ClosedGroup } from '../../../briefs/pipeline/pipeline-groups.ts';
import { useFormats } from '../shell/format.ts';
import {
  ActionButton,
  Coverage,
  Figure,
  type FigureProps,
  Head,
  Leading,
  Notes,
  Refresh,
} from '../shell/parts.tsx';
import type { ViewProps } from '../shell/start.tsx';
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
  const { data, host, reload } = props;
  const { day } = useFormats();
  const { from, to } = data.closed;
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
        <Scope {...props} />
      </Head>
      <ClosedFigures data={data} />
      {data.groups.rows.length > 0 && <ClosedGroups data={data} />}
      <DealList key={data.coverage?.asOf} {...props} />
      <Notes notes={data.notes} />
    </main>
  );
}

function ClosedFigures({ data: { closed, outcome } }: { data: ClosedPipeline }) {
  const { amounts, number, percent } = useFormats();
  const { won, lost, winRatePercent, outcomeUnknown } = closed;
  const days = (mean: number | undefined) =>
    mean === undefined ? '' : ` in ${number(Math.round(mean))} days on average`;
  const figures: FigureProps[] = [
    {
      label: 'Won, total contract value',
      values: amounts(won.value),
      more: `${number(won.count)} won${days(won.daysToClose)}`,
      tone: 'good',
    },
    {
      label: 'Lost, total contract value',
      values: amounts(lost.value),
      more: `${number(lost.count)} lost${days(lost.daysToClose)}`,
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
            values={[number(outcomeUnknown.count), ...amounts(outcomeUnknown.value)]}
          />
        </dl>
      )}
    </>
  );
}

const titleOf = (by: string): string =>
  by.charAt(0).toUpperCase() + by.slice(1).replaceAll('_', ' ');

function ClosedGroups({ data: { by, groups } }: { data: ClosedPipeline }) {
  const { amounts, month, number, percent } = useFormats();
  const titles = ['Won', 'Won value', 'Lost', 'Lost value', 'Win rate'];
  const cells = ({ won, wonValue, lost, lostValue, winRatePercent }: ClosedGroup) => [
    [number(won)],
    amounts(wonValue),
    [number(lost)],
    amounts(lostValue),
    winRatePercent === undefined ? [] : [percent(winRatePercent)],
  ];
  return (
    <section class="panel" aria-labelledby="groups">
      <h2 id="groups">{`By ${by.replaceAll('_', ' ')}`}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable */}
      <section class="scroll" tabIndex={0} aria-label="Groups, table">
        <table>
          <thead>
            <tr>
              <th scope="col">{titleOf(by)}</th>
              {titles.map((title) => (
                <th key={title} scope="col" class="num">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.rows.map((group) => {
              const name = group.name ?? group.id ?? '–';
              return (
                <tr key={group.id ?? name}>
                  <th scope="row">
                    <bdi>{isMonth(name) ? month(name) : name}</bdi>
                  </th>
                  {cells(group).map((lines, at) => (
                    <td key={titles[at]} class="num">
                      <Stacked lines={lines} />
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
    </section>
  );
}

/** Values of several currencies, one below the other. */
function Stacked({ lines }: { lines: readonly string[] }) {
  if (lines.length === 0) return <>–</>;
  return (
    <>
      {lines.map((line) => (
        <span key={line} class="line">
          {line}
        </span>
      ))}
    </>
  );
}

function DealList({ data, args, host }: ViewProps<ClosedPipeline>) {
  const { number } = useFormats();
  const [deals, setDeals] = useState(data.records ?? []);
  const [next, setNext] = useState(data.page?.next);
  const total = data.page?.total ?? deals.length;
  const readMore = async () => {
    const { sections: _sections, ...rest } = args;
    const call = { ...rest, deals_from: next, rows: 100 };
    const answer = await host.read<Required<Pick<ClosedPipeline, 'records' | 'page'>>>(
      'cpq_brief_pipeline',
      call,
    );
    setDeals([...deals, ...answer.records]);
    setNext(answer.page.next);
  };
  if (total === 0) return <p class="empty">No opportunity was closed in this period.</p>;
  if (deals.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="closed">
      <h2 id="closed">Opportunities</h2>
      <p class="about" role="status">{`${number(deals.length)} of ${number(total)} shown.`}</p>
      <ClosedTable deals={deals} hasOutcome={data.outcome === 'closed'} />
      {host.canRead && next !== undefined && (
        <ActionButton text="Show more" busyText="Reading…" run={readMore} />
      )}
    </section>
  );
}

function ClosedTable({ deals, hasOutcome }: { deals: readonly ClosedDeal[]; hasOutcome: boolean }) {
  const { money, day, number } = useFormats();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable
    <section class="scroll" tabIndex={0} aria-label="Opportunities, table">
      <table class="deals">
        <thead>
          <tr>
            <th scope="col">Opportunity</th>
            <th scope="col">Company</th>
            <th scope="col">Owner</th>
            {hasOutcome && <th scope="col">Outcome</th>}
            <th scope="col">Closed</th>
            <th scope="col" class="num">
              Days to close
            </th>
            <th scope="col" class="num">
              Total contract value
            </th>
          </tr>
        </thead>
        <tbody>
          {deals.map(({ id, name, company, owner, outcome, closed, daysToClose, ...deal }) => (
            <tr key={id}>
              <td>
                <strong dir="auto">{name ?? id}</strong>
              </td>
              <td dir="auto">{company}</td>
              <td dir="auto">{owner}</td>
              {hasOutcome && <td>{outcome}</td>}
              <td class="day-cell">{closed ? day(closed) : '–'}</td>
              <td class="num">{daysToClose === undefined ? '–' : number(daysToClose)}</td>
              <td class="num">
                {deal.value === undefined ? 'Unknown' : money(deal.value, deal.currency ?? '')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
