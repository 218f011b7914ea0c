/** What the panel of a view can show. */
import type { ComponentChildren } from 'preact';
import type { OpenDeal } from '../../../briefs/pipeline/pipeline.ts';
import type { QuotesReport } from '../../../briefs/quotes/quotes.ts';
import { type Formats, ownOf } from '../shell/format.ts';

/** How many of a list are shown. */
export const partOf = (
  { shown, total }: { shown: number; total: number },
  { number }: Formats,
): string => (shown < total ? `${number(shown)} of ${number(total)}` : number(total));

export type RecordKind = 'opportunity' | 'quote' | 'company';

export type Entry =
  | {
      kind: RecordKind;
      id: string;
      name?: string | undefined;
      /** What the list that it was opened from knows of it. */
      deal?: DealFacts | undefined;
      /** The list that it was opened from: next and previous lead through it. */
      among?: readonly DealFacts[];
    }
  | {
      kind: 'rows';
      title: string;
      /** Drawn when the panel is, so that it can open entries itself. */
      body(): ComponentChildren;
    };

export type Open = (entry: Entry) => void;

/** Opens the records of a list, with the others of the list before and after, as they are sorted. */
export const opensIn =
  (open: Open, kind: RecordKind, rows: readonly DealFacts[]) =>
  (deal: DealFacts, among: readonly DealFacts[] = rows): void => {
    const { id, name } = deal;
    if (id !== undefined) open({ kind, id, name, deal, among });
  };

/** What a list knows of an opportunity. */
export type DealFacts = { [Field in keyof OpenDeal]?: OpenDeal[Field] | undefined };

/** An opportunity of any list: open, closed or moved. */
export type DealRow = DealFacts & {
  outcome?: string | undefined;
  closed?: string | undefined;
  daysToClose?: number | undefined;
};

/** A quote of any list. */
export type QuoteRow = Partial<ReturnType<QuotesReport['rows']>[number]> & {
  created?: string | undefined;
  /** Why a check found it. */
  reason?: string | undefined;
};

const daysFrom = (from: string | undefined, to: string): number | undefined =>
  from === undefined ? undefined : Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);

const isWaiting = ({ acceptance }: QuoteRow): boolean =>
  acceptance === 'open to acceptance' || acceptance === 'past expiry';

/** Days since it was sent, of a quote that waits for an answer. */
export const daysWaiting = (row: QuoteRow, today: string): number | undefined =>
  isWaiting(row) ? daysFrom(row.sent, today) : undefined;

/** Days until a quote that waits for an answer, or is a draft, runs out; below 0 it has. */
export const daysLeft = (row: QuoteRow, today: string): number | undefined =>
  row.expires !== undefined && (isWaiting(row) || row.status === 'draft')
    ? daysFrom(today, row.expires)
    : undefined;

const stateNames: Readonly<Record<string, string>> = {
  'open to acceptance': 'Sent',
  'past expiry': 'Expired',
  accepted: 'Approved',
};
/** What a salesperson calls a state of quotes. */
export const stateName = (state: string): string =>
  ownOf(stateNames, state) ?? state.charAt(0).toUpperCase() + state.slice(1);

/** Whether the customer can still accept a quote says more than its status, but for a status of the tenant's own. */
export const stateOf = ({ status = '', acceptance }: Pick<QuoteRow, 'status' | 'acceptance'>) =>
  stateName(acceptance === undefined || acceptance === 'other' ? status : acceptance);

export const stateTones: Readonly<Record<string, 'good' | 'danger'>> = {
  Approved: 'good',
  Declined: 'danger',
  Expired: 'danger',
};

export const outcomeTones: Readonly<Record<string, 'good' | 'danger'>> = {
  won: 'good',
  lost: 'danger',
};

export const quoteName = ({ number, name, id }: QuoteRow): string =>
  [number, name].filter(Boolean).join(' · ') || (id ?? 'Unnamed');
