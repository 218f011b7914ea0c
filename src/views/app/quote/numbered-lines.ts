/** The lines as they are shown: by term, numbered in that order, setups as lines of their own, up to the total. */
import type { PublicLine, QuoteData } from './data.ts';

export interface ShownLine extends PublicLine {
  /** Position on the page, from 1. */
  shownAt: number;
  /** The setup of a line, charged once. */
  isSetup: boolean;
}

/** What lies between the lines and the total. */
export interface Adjustment {
  kind: 'discount' | 'rounding' | 'omitted';
  /** Absent where it cannot be told from the lines that are shown. */
  amount?: number;
}

export interface TermSection {
  term: string;
  lines: ShownLine[];
  adjustments: Adjustment[];
  total: number | undefined;
}

type Quote = Pick<QuoteData, 'lines' | 'terms' | 'totals' | 'discount'>;

export function termSections(quote: Quote): TermSection[] {
  const { lines, terms } = quote;
  const names = new Set([...terms, ...lines.rows.map(({ term }) => term)]);
  let last = 0;
  const number = (line: Omit<ShownLine, 'shownAt'>): ShownLine => {
    last += 1;
    return { ...line, shownAt: last };
  };
  return [...names].flatMap((term) => {
    const rows = lines.rows.filter((line) => line.term === term);
    const own = rows.map((line) => ({ ...line, isSetup: false }));
    const shown = [...own, ...(term === 'one-time' ? lines.rows.flatMap(setupLine) : [])].map(
      number,
    );
    const total = totalOf(quote, term);
    if (shown.length === 0) return [];
    return { term, lines: shown, adjustments: adjustmentsOf(quote, shown, total), total };
  });
}

function setupLine({ line, name, mpn, setupPrice }: PublicLine): Omit<ShownLine, 'shownAt'>[] {
  if (!setupPrice) return [];
  const about = name ?? mpn;
  const setup = { line, quantity: 1, price: setupPrice, total: setupPrice, term: 'one-time' };
  return [{ ...setup, name: about ? `Setup: ${about}` : 'Setup', isSetup: true }];
}

function totalOf({ totals }: Quote, term: string): number | undefined {
  if (term === 'one-time') return totals.oneTime;
  if (term === 'monthly' || term === 'yearly') return totals[term];
  return totals.otherTerms?.[term];
}

/** Half a cent: below it two sums are the same. */
const sameSum = 0.005;

function adjustmentsOf(
  { lines, discount }: Quote,
  shown: readonly ShownLine[],
  total: number | undefined,
): Adjustment[] {
  if (lines.shown < lines.total) return [{ kind: 'omitted' }];
  const sum = shown.reduce((all, { total: one = 0 }) => all + one, 0);
  const amount = total === undefined ? 0 : Math.round((total - sum) * 100) / 100;
  if (Math.abs(amount) < sameSum) return [];
  // An amount is taken off what is due once.
  const isOff = discount && (discount.percent !== undefined || shown[0]?.term === 'one-time');
  return [{ kind: isOff ? 'discount' : 'rounding', amount }];
}
