/** What the panel of a view can show. */
import type { ComponentChildren } from 'preact';
import type { OpenDeal } from '../../../briefs/pipeline/pipeline-deals.ts';
import type { QuotesReport } from '../../../briefs/quotes/quotes.ts';

export type RecordKind = 'opportunity' | 'quote' | 'company';

export type Entry =
  | {
      kind: RecordKind;
      /** A company is also found by its name. */
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

/** Opens the records of a list, with the others of the list before and after. */
export const opensIn =
  (open: Open, kind: RecordKind, among: readonly DealFacts[]) =>
  (deal: DealFacts): void => {
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
};
