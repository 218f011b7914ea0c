/** One opportunity: what the list knows of it, what is read when it is opened, and two changes that a person can ask for. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type Formats, unknownCurrency, useFormats } from '../shell/format.ts';
import { Failed, Pairs } from '../shell/parts.tsx';
import { useAnswer } from '../shell/use-reading.ts';
import type { Host } from '../shell/view.ts';
import type { DealFacts, Open } from './entries.ts';
import { MoveDeal } from './move.tsx';
import { CompanyLink } from './people.tsx';

interface Props {
  id: string;
  deal: DealFacts | undefined;
  host: Host;
  stages: readonly string[];
  open: Open;
  changed?: (() => void) | undefined;
}

/** What `cpq_get_record` is asked for: a field that is not named here, such as a profit, never reaches the page. */
const readFields = [
  ...['name', 'company', 'companyId', 'stage', 'outcome', 'oneTime', 'monthly', 'value'],
  ...['currency', 'closes', 'closed', 'owner', 'contact', 'category', 'source', 'created'],
  ...['valueMonths', 'ask'],
];

type TextField = 'companyId' | 'outcome' | 'closed' | 'contact' | 'category' | 'source';
type Texts = { [Field in TextField | 'created' | 'ask']?: string | undefined };
/** The fields that are chosen above, named and typed as the columns of lists. */
type Facts = DealFacts & Texts & { valueMonths?: number | undefined };

export function OpportunityDetails({ id, deal = {}, host, stages, open, changed }: Props) {
  const [writes, setWrites] = useState(0);
  const call = { resource: 'opportunity', id, fields: readFields };
  const { answer, failed, retry } = useAnswer<{ record: Facts }>(host, 'cpq_get_record', call, [
    writes,
  ]);
  // While it is read again, what was read before stays.
  const before = useRef<Facts | undefined>(undefined);
  const record = answer?.record ?? before.current;
  before.current = record;
  const facts = factsOf(deal, record, writes > 0);
  const written = () => {
    setWrites(writes + 1);
    changed?.();
  };
  const isOpen = record && (record.outcome ?? 'open') === 'open' && !record.closed;
  // What came of a change stays, also of one that closed the opportunity.
  const isChangeable = (isOpen || writes > 0) && host.lists('cpq_upsert_opportunity');
  return (
    <>
      <Pairs pairs={pairsOf(facts, useFormats(), open)} />
      {!record && !failed && <p role="status">Reading…</p>}
      <Failed reason={failed} retry={retry} />
      {record?.ask && (
        <div class="customer-ask">
          <h3>What the customer asked for</h3>
          <p dir="auto">{record.ask}</p>
        </div>
      )}
      {isChangeable && host.canRead && (
        <MoveDeal
          {...{ id, host, stages }}
          changed={written}
          closes={facts.closes}
          stage={facts.stage}
        />
      )}
    </>
  );
}

/** After a change the list is older than the record; before, it may have its amounts at other rates. */
function factsOf(deal: DealFacts, record: Facts | undefined, isWritten: boolean): Facts {
  if (!isWritten) return { ...deal, ...record, ...amountsOf(deal, record) };
  const { idleDays: _1, probability: _2, profit: _3, ...rest } = deal;
  return { ...rest, ...record };
}

/** All of one currency: those that the list lacks are the record's only if that has the same. */
function amountsOf(deal: DealFacts, record: Facts = {}): Partial<DealFacts> {
  const { value, oneTime, monthly, currency } = deal;
  const isSame = currency === (record.currency ?? unknownCurrency);
  const amounts = Object.entries({ value, oneTime, monthly, currency });
  return Object.fromEntries(
    amounts.filter(([, amount]) => amount !== undefined || (currency !== undefined && !isSame)),
  );
}

/** The fields in the order of a conversation: what it is worth, when it closes, who is concerned. */
function pairsOf(facts: Facts, formats: Formats, open: Open): [string, ComponentChildren][] {
  const { company, companyId, outcome, closes, closed, idleDays } = facts;
  const { value, monthly, profit, probability, valueMonths } = facts;
  const { day, number, money, percent } = formats;
  const amount = (it: number | undefined) =>
    it === undefined ? undefined : money(it, facts.currency ?? unknownCurrency);
  const share = value && profit !== undefined ? percent((profit / value) * 100) : undefined;
  const months = valueMonths === undefined ? '' : ` for ${number(valueMonths)} months`;
  const weighted =
    value === undefined || probability === undefined ? undefined : value * probability;
  return [
    ['Total contract value', amount(value) ?? 'Unknown'],
    ['Weighted', amount(weighted)],
    ['One-time', amount(facts.oneTime)],
    ['Monthly', monthly ? `${amount(monthly)}${months}` : undefined],
    ['Profit', profit === undefined ? undefined : [amount(profit), share].join(' · ')],
    ['Probability', probability === undefined ? undefined : percent(probability * 100)],
    ['Stage', facts.stage],
    ['Outcome', outcome === 'open' ? undefined : outcome?.replaceAll('_', ', ')],
    ['Expected close', closes && day(closes)],
    ['Closed', closed && day(closed)],
    ['Last change', idleDays === undefined ? undefined : daysAgo(idleDays, number)],
    ['Owner', facts.owner],
    ['Company', company && <CompanyLink id={companyId} name={company} open={open} />],
    ['Contact', facts.contact],
    ['Category', facts.category],
    ['Source', facts.source],
    ['Created', facts.created && day(facts.created)],
  ];
}

const daysAgo = (days: number, number: Formats['number']): string =>
  days === 0 ? 'today' : days === 1 ? 'yesterday' : `${number(days)} days ago`;
