/** A quote in two halves: what anyone may see, and the costs, which the view keeps only while they are turned on. */
import type { FindingCode, PreflightFinding } from '../../../briefs/quote/preflight.ts';
import type { QuoteBrief, QuoteLine } from '../../../briefs/quote/quote.ts';
import type { AnswerText } from '../shell/parts.tsx';

/** The answer of the tool. */
export type QuoteAnswer = QuoteBrief & AnswerText;

type LineCosts = Pick<QuoteLine, 'cost' | 'margin' | 'setupCost'>;
export type PublicLine = Omit<QuoteLine, keyof LineCosts>;

export interface Finding extends Pick<PreflightFinding, 'code' | 'severity' | 'line'> {
  /** Absent while it would reveal a cost. */
  why?: string;
}

type Replaced = 'lines' | 'setup' | 'terms' | 'preflight';

/** What the view keeps and shows. */
export interface QuoteData extends Omit<QuoteAnswer, Replaced> {
  lines: Omit<QuoteBrief['lines'], 'rows'> & { rows: PublicLine[] };
  /** Their names, in the order in which they are shown. */
  terms: string[];
  preflight: Omit<QuoteBrief['preflight'], 'rows'> & { rows: Finding[] };
}

export interface Costs {
  /** By the number of the line in the quote. */
  lines: ReadonlyMap<number, LineCosts>;
  terms: QuoteBrief['terms'];
  findings: readonly Finding[];
}

const costFindings: ReadonlySet<FindingCode> = new Set<FindingCode>([
  'missing_cost',
  'price_under_cost',
  'negative_margin',
  'setup_cost_without_price',
]);

export function withoutCosts({
  lines,
  setup: _setup,
  terms,
  preflight,
  ...answer
}: QuoteAnswer): QuoteData {
  return {
    ...answer,
    lines: { ...lines, rows: lines.rows.map(publicLine) },
    terms: terms.map(({ term }) => term),
    preflight: { ...preflight, rows: preflight.rows.map(publicFinding) },
  };
}

const publicLine = ({
  cost: _cost,
  margin: _margin,
  setupCost: _setupCost,
  ...line
}: QuoteLine): PublicLine => line;

const publicFinding = ({ code, severity, line, why }: PreflightFinding): Finding => ({
  code,
  severity,
  ...(line !== undefined && { line }),
  ...(!costFindings.has(code) && { why }),
});

export const costsOf = ({ lines, terms, preflight }: QuoteAnswer): Costs => ({
  lines: new Map(lines.rows.map((row) => [row.line, row])),
  terms,
  findings: preflight.rows,
});
