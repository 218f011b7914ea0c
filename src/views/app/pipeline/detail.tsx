/** One opportunity: the chosen fields of its card, and those that are read when it is opened. */

import { useEffect, useRef } from 'preact/hooks';
import type { OpenDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import { type Formats, useFormats } from '../shell/format.ts';
import { Ask, questionAbout } from '../shell/parts.tsx';
import type { Host } from '../shell/start.tsx';
import { useAnswer } from '../shell/use-reading.ts';

interface Props {
  id: string;
  /** The row of the board; absent while the rows are read again. */
  deal: OpenDeal | undefined;
  host: Host;
  close(): void;
}

/** What `cpq_get_record` is asked for: a field that is not named here, such as a profit, never reaches the page. */
const readFields = ['contact', 'category', 'source', 'created', 'valueMonths', 'ask'] as const;
type OpportunityFields = Partial<Record<(typeof readFields)[number], unknown>>;

export function Detail({ id, deal, host, close }: Props) {
  const call = { resource: 'opportunity', id, fields: readFields };
  const { answer, failed } = useAnswer<{ record: OpportunityFields }>(
    host,
    'cpq_get_record',
    call,
    [id],
  );
  const record = answer?.record;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [id]);
  return (
    <section
      class="panel detail"
      aria-labelledby="detail"
      onKeyDown={({ key }) => key === 'Escape' && close()}
    >
      <div class="head">
        <h2 id="detail" ref={heading} tabIndex={-1} dir="auto">
          {deal?.name ?? 'Opportunity'}
        </h2>
        <div class="actions">
          <Ask primary host={host} text="Ask about this" question={() => question(id)} />
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      </div>
      {deal && <Fields deal={deal} record={record ?? {}} />}
      {!record && !failed && <p role="status">Reading…</p>}
      {failed && <p role="alert">{failed}</p>}
      {typeof record?.ask === 'string' && <CustomerAsk text={record.ask} />}
    </section>
  );
}

const question = (id: string): string =>
  questionAbout(
    'opportunity',
    { id },
    'what should I know, and what is the best next step?',
    'cpq_get_record',
  );

function CustomerAsk({ text }: { text: string }) {
  return (
    <div class="customer-ask">
      <h3>What the customer asked for</h3>
      <p dir="auto">{text}</p>
    </div>
  );
}

function Fields({ deal, record }: { deal: OpenDeal; record: OpportunityFields }) {
  const pairs = pairsOf(deal, record, useFormats());
  return (
    <dl class="pairs">
      {pairs.map(([name, text]) => (
        <div key={name} class="pair">
          <dt>{name}</dt>
          <dd dir="auto">{text}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The fields in the order of a conversation: what it is worth, when it closes, who is concerned. */
function pairsOf(
  deal: OpenDeal,
  { contact, category, source, created, valueMonths }: OpportunityFields,
  { money, number, percent, day }: Formats,
): [string, string][] {
  const { value, oneTime, monthly, profit, probability, closes, idleDays } = deal;
  const amount = (it: number | undefined) =>
    it === undefined ? undefined : money(it, deal.currency ?? '');
  const share = value && profit !== undefined ? percent((profit / value) * 100) : undefined;
  const months = typeof valueMonths === 'number' ? ` for ${number(valueMonths)} months` : '';
  const pairs: [string, string | undefined][] = [
    ['Total contract value', amount(value)],
    [
      'Weighted',
      value === undefined || probability === undefined ? undefined : amount(value * probability),
    ],
    ['One-time', amount(oneTime)],
    ['Monthly', monthly ? `${amount(monthly)}${months}` : undefined],
    ['Profit', profit === undefined ? undefined : [amount(profit), share].join(' · ')],
    ['Probability', probability === undefined ? undefined : percent(probability * 100)],
    ['Stage', deal.stage],
    ['Expected close', closes && day(closes)],
    ['Last change', idleDays === undefined ? undefined : daysAgo(idleDays, number)],
    ['Owner', deal.owner],
    ['Company', deal.company],
    ...[
      ['Contact', contact] as const,
      ['Category', category] as const,
      ['Source', source] as const,
    ].map(([name, text]): [string, string | undefined] => [
      name,
      typeof text === 'string' ? text : undefined,
    ]),
    ['Created', typeof created === 'string' ? day(created) : undefined],
  ];
  return pairs.filter((pair): pair is [string, string] => Boolean(pair[1]));
}

const daysAgo = (days: number, number: Formats['number']): string =>
  days === 0 ? 'today' : days === 1 ? 'yesterday' : `${number(days)} days ago`;
