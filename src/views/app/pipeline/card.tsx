import type { OpenDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import { amountText } from '../records/rows.tsx';
import { type Amounts, useFormats } from '../shell/format.ts';
import { Badge } from '../shell/parts.tsx';
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
  const { day } = useFormats();
  const { id, name, company, owner, stage, closes } = deal;
  const who = settings.by === 'owner' ? stage : owner;
  return (
    <button
      type="button"
      class="card"
      data-id={id}
      aria-expanded={isSelected}
      onClick={() => id !== undefined && select(id)}
    >
      <span class="name" dir="auto">
        {shortened(name ?? id ?? 'Unnamed', maxTitle)}
      </span>
      {company && (
        <span class="company" dir="auto">
          {shortened(company, maxTitle)}
        </span>
      )}
      <CardAmount {...{ deal, settings, maxAmount }} />
      <span class="foot">
        {who && (
          <span class="who" dir="auto">
            {shortened(who, maxTitle)}
          </span>
        )}
        {closes !== undefined && <span>Closes {day(closes)}</span>}
      </span>
      <Marks deal={deal} settings={settings} />
    </button>
  );
}

function CardAmount({
  deal,
  settings,
  maxAmount,
}: Pick<CardProps, 'deal' | 'settings' | 'maxAmount'>) {
  const { percent, money } = useFormats();
  const { currency = '', probability } = deal;
  const amount = amountOf(deal, settings.measure);
  const share = (amount ?? 0) / (amountIn(maxAmount, currency) || 1);
  return (
    <>
      <span class="amount">
        <bdi>{amountText(amount, deal.currency, money)}</bdi>
        {probability !== undefined && <span class="chance">{percent(probability * 100)}</span>}
      </span>
      <span class="gauge" aria-hidden="true">
        <span style={{ width: `${Math.round(share * 100)}%` }} />
      </span>
    </>
  );
}

function Marks({ deal, settings }: Pick<CardProps, 'deal' | 'settings'>) {
  const { number } = useFormats();
  const [late, stalled] = [isLate(deal, settings), isStalled(deal, settings)];
  if (!late && !stalled) return null;
  return (
    <span class="marks">
      {late && <Badge tone="danger">Overdue</Badge>}
      {stalled && <Badge tone="warning">{`Stalled ${number(deal.idleDays ?? 0)} days`}</Badge>}
    </span>
  );
}
