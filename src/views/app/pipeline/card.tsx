import type { OpenDeal } from '../../../briefs/pipeline/pipeline.ts';
import { amountText } from '../records/rows.tsx';
import { type Amounts, useFormats } from '../shell/format.ts';
import { Badge } from '../shell/parts.tsx';
import { shareOf } from '../shell/shapes.ts';
import { shortened } from '../shell/shorten.ts';
import { amountIn, amountOf, type BoardSettings, isLate, isStalled } from './deals.ts';

interface CardProps {
  deal: OpenDeal;
  settings: BoardSettings;
  /** The largest amount on the board in each currency: the full length of a bar. */
  maxAmount: Amounts;
  isSelected: boolean;
  select(id: string): void;
}

const maxTitle = 60;

export function Card({ deal, settings, maxAmount, isSelected, select }: CardProps) {
  const { day, percent, money, counted } = useFormats();
  const { id, name, company, owner, stage, closes, currency, probability, idleDays = 0 } = deal;
  const amount = amountOf(deal, settings.measure);
  const share = shareOf(amount ?? 0, amountIn(maxAmount, currency ?? ''));
  const [late, stalled] = [isLate(deal, settings), isStalled(deal, settings)];
  const part = (kind: string, text: string | undefined) =>
    text && (
      <span class={kind} dir="auto">
        {shortened(text, maxTitle)}
      </span>
    );
  return (
    <button
      type="button"
      class="card"
      data-id={id}
      aria-expanded={isSelected}
      onClick={() => id !== undefined && select(id)}
    >
      {part('name', name ?? id ?? 'Unnamed')}
      {part('company', company)}
      <span class="amount">
        <bdi>{amountText(amount, currency, money)}</bdi>
        {probability !== undefined && <span class="chance">{percent(probability * 100)}</span>}
      </span>
      <span class="gauge" aria-hidden="true">
        <span style={{ width: `${share}%` }} />
      </span>
      <span class="foot">
        {part('who', settings.by === 'owner' ? stage : owner)}
        {closes !== undefined && <span>Closes {day(closes)}</span>}
      </span>
      {(late || stalled) && (
        <span class="marks">
          {late && <Badge tone="danger">Overdue</Badge>}
          {stalled && <Badge tone="warning">{`Stalled ${counted(idleDays, 'day')}`}</Badge>}
        </span>
      )}
    </button>
  );
}
