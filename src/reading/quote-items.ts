import { hasUnknownItems } from '../figures/quote-totals.ts';
import { minRows } from '../service/records/account.ts';
import type { ApiRecord, Quote, Resource } from '../service/records/records.ts';
import { type Wording, wording } from '../text/untrusted-text.ts';
import type { ServicePages } from './service-pages.ts';

/** The property of the route that says whether the rows of a list have the items of their quotes. */
const itemsInRows = 'items in rows';

/**
 * The rows of a list, or one record. Where none of them, and no row before, has items, their items are unknown rather than
 * absent, and rows are marked: those without the field, and where many rows have empty lists, all. Rows are copied.
 */
export function markUnknownItems<R extends ApiRecord>(
  resource: Resource,
  rows: readonly R[],
  pages: Pick<ServicePages, 'traits' | 'learnHonoured'>,
): readonly R[] {
  if (resource !== 'quote' || pages.traits('quote').honoured[itemsInRows]) return rows;
  const isListed = ({ items, unreadable }: Quote) => items?.length || unreadable?.items;
  if (rows.some(isListed)) {
    pages.learnHonoured('quote', itemsInRows, true);
    return rows;
  }
  return rows.map((row: R & Quote) =>
    rows.length >= minRows || row.items === undefined ? marked(row) : row,
  );
}

function marked<R extends Quote>(row: R): R {
  const unreadable = { ...row.unreadable, items: 'left out' };
  return Object.freeze({ ...row, items: undefined, unreadable });
}

/** Why totals are missing, where rows have unknown items. */
export const describeUnknownItems = (rows: readonly ApiRecord[]): Wording[] =>
  rows.some(hasUnknownItems)
    ? [
        wording`The service's lists leave out the items of quotes, so totals are missing here: cpq_brief_quote reads one quote with its items.`,
      ]
    : [];
