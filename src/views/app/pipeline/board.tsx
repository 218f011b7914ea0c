import { useState } from 'preact/hooks';
import type { OpenDeal } from '../../../briefs/pipeline-deals.ts';
import { type Amounts, useFormats } from '../shell/format.ts';
import { Badge } from '../shell/parts.tsx';
import { amountOf, type Column, type ColumnsBy, type Measure } from './deals.ts';

export interface BoardSettings {
  by: ColumnsBy;
  measure: Measure;
  today: string;
  stalledAfter: number;
}

interface Props {
  columns: readonly Column[];
  shown: BoardSettings;
  /** Id of the opportunity whose details are open. */
  chosen: string | undefined;
  choose(id: string): void;
}

const titles: Record<ColumnsBy, string> = {
  stage: 'Board by stage',
  owner: 'Board by owner',
  month: 'Board by closing month',
};

export function Board({ columns, shown, chosen: selectedId, choose: select }: Props) {
  const deals = columns.flatMap((column) => column.deals);
  const largest = maxAmountOf(deals, shown.measure);
  return (
    <section aria-labelledby="board" class="board-section">
      <h2 id="board">{titles[shown.by]}</h2>
      {/* Scrolls sideways, so it has to be reachable by keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable */}
      <section class="board" tabIndex={0} aria-label={`${titles[shown.by]}, columns`}>
        {columns.map((column) => (
          <BoardColumn
            key={column.key}
            column={column}
            shown={shown}
            maxAmount={largest}
            chosen={selectedId}
            choose={select}
          />
        ))}
      </section>
    </section>
  );
}

/** The largest amount in each currency: card sizes compare within one currency only. */
function maxAmountOf(deals: readonly OpenDeal[], measure: Measure): Amounts {
  const largest: Record<string, number> = {};
  for (const deal of deals) {
    const { currency = '' } = deal;
    largest[currency] = Math.max(largest[currency] ?? 0, amountOf(deal, measure) ?? 0);
  }
  return largest;
}

interface ColumnProps extends Omit<Props, 'columns'> {
  column: Column;
  maxAmount: Amounts;
}

/** Cards shown per column until "Show more". */
const cardsPerPage = 12;

function BoardColumn({
  column,
  shown,
  maxAmount: largest,
  chosen: selectedId,
  choose: select,
}: ColumnProps) {
  const { month, number, amounts } = useFormats();
  const [cards, setCards] = useState(cardsPerPage);
  const sorted = column.deals.toSorted(
    (a, b) => (amountOf(b, shown.measure) ?? -1) - (amountOf(a, shown.measure) ?? -1),
  );
  const [first, ...others] = amounts(column.sum);
  const isMonth = shown.by === 'month' && /^\d/.test(column.name);
  const remaining = sorted.length - cards;
  return (
    <div class="column" data-column={column.name}>
      <h3>
        <span dir="auto" class="title">
          {isMonth ? month(column.name) : column.name}
        </span>
        <span class="count">{number(column.count)}</span>
      </h3>
      <p class="sum">
        <strong>{first ?? '–'}</strong>
        {others.length > 0 && <span>{others.join(' · ')}</span>}
      </p>
      <ul class="cards plain">
        {sorted.slice(0, cards).map((deal) => (
          <li key={deal.id}>
            <Card
              deal={deal}
              shown={shown}
              share={shareOfMax(deal, shown.measure, largest)}
              isChosen={deal.id !== undefined && deal.id === selectedId}
              choose={select}
            />
          </li>
        ))}
      </ul>
      {remaining > 0 && (
        <button type="button" class="more" onClick={() => setCards(cards + 4 * cardsPerPage)}>
          {`Show more (${number(remaining)})`}
          <span class="hidden"> in {column.name.slice(0, 100)}</span>
        </button>
      )}
    </div>
  );
}

/** 0–1 of the largest, scaled by area rather than length so that small cards stay comparable. */
function shareOfMax(deal: OpenDeal, measure: Measure, largest: Amounts): number {
  const most = largest[deal.currency ?? ''] ?? 0;
  const amount = amountOf(deal, measure) ?? 0;
  return most > 0 && amount > 0 ? Math.sqrt(amount / most) : 0;
}

interface CardProps {
  deal: OpenDeal;
  shown: BoardSettings;
  share: number;
  isChosen: boolean;
  choose(id: string): void;
}

function Card({ deal, shown, share, isChosen, choose: select }: CardProps) {
  const { money, day, number, percent } = useFormats();
  const { id, name, company, owner, closes, idleDays, currency, probability } = deal;
  const amount = amountOf(deal, shown.measure);
  const isLate = closes !== undefined && closes < shown.today;
  const isStalled = idleDays !== undefined && idleDays >= shown.stalledAfter;
  const who = shown.by === 'owner' ? deal.stage : owner;
  return (
    <button
      type="button"
      class="card"
      data-id={id}
      aria-expanded={isChosen}
      style={{ minHeight: `${76 + Math.round(share * 64)}px` }}
      onClick={() => id !== undefined && select(id)}
    >
      <span class="name" dir="auto">
        {name ?? id ?? 'Unnamed'}
      </span>
      <span class="company" dir="auto">
        {company}
      </span>
      <span class="amount">
        {amount === undefined ? 'unknown' : money(amount, currency ?? 'unknown currency')}
        {probability !== undefined && <span class="chance">{percent(probability * 100)}</span>}
      </span>
      <span class="gauge" aria-hidden="true">
        <span style={{ width: `${Math.round(share * 100)}%` }} />
      </span>
      <span class="facts" dir="auto">
        {who}
      </span>
      {closes !== undefined && <span class="facts">Closes {day(closes)}</span>}
      <span class="marks">
        {isLate && <Badge tone="danger">Overdue</Badge>}
        {isStalled && <Badge tone="warning">{`Stalled ${number(idleDays)} days`}</Badge>}
      </span>
    </button>
  );
}
