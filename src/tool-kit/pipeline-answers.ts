/** The answers of `cpq_brief_pipeline`: the sections that were asked for, with as many deals as fit. */

import type { ClosedBrief, PipelineBrief, PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import type { ClosedDeal, OpenDeal } from '../briefs/pipeline/pipeline-deals.ts';
import { isInOrder } from '../briefs/pipeline/pipeline-groups.ts';
import type { ClosedPeriod } from '../briefs/pipeline/won-and-lost.ts';
import type { Deal } from '../figures/deals.ts';
import { formatNumber } from '../figures/money.ts';
import { compact, plural } from '../figures/naming.ts';
import { join, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isKeyOf } from '../values.ts';
import {
  answerWithRows,
  formatAmounts,
  limitLists,
  listedWords,
  pageOf,
  rankedInCurrencies,
} from './answers.ts';
import type { Answer } from './define-tool.ts';
import { describeScope } from './name-filters.ts';

export const pipelineSections = [
  'groups',
  'overdue',
  'closing_soon',
  'stalled',
  'closed',
  'deals',
] as const;
type PipelineSection = (typeof pipelineSections)[number];

/** Fields of a brief that are left out unless their section is wanted. */
const sectionOf = {
  by: 'groups',
  groups: 'groups',
  overdue: 'overdue',
  closingSoon: 'closing_soon',
  stalled: 'stalled',
} as const satisfies Record<string, PipelineSection>;

const openSections = pipelineSections.filter((section) => section !== 'deals');
const closedSections: readonly PipelineSection[] = ['closed', 'groups', 'deals'];

const maxDeals = 100;
/** An answer that lists deals is filled up to about 2,500 tokens: the estimate is up to half too high. */
const aim = 3_600;

interface Asked {
  filters: PipelineFilters;
  sections: readonly PipelineSection[] | undefined;
  rows: number | undefined;
  /** Position of the first deal; without sections it asks for the list of deals only. */
  dealsFrom: number | undefined;
  /** Every deal that the brief is about, in order. */
  deals(): Promise<readonly Deal[]>;
  rowOf(deal: Deal): OpenDeal | ClosedDeal;
  coverage: Record<string, unknown>;
  notes: readonly Wording[];
}

type Brief = PipelineBrief | ClosedBrief;

const isOpenBrief = (brief: Brief): brief is PipelineBrief => 'open' in brief;

export async function pipelineAnswer(brief: Brief, asked: Asked): Promise<Answer> {
  const sections = new Set(sectionsOf(brief, asked));
  const { notes = [], ...figures } = brief;
  const deals = sections.has('deals') ? await listDeals(asked) : undefined;
  const count = deals ? deals.records.length : asked.rows;
  const { countByCurrency } = isOpenBrief(brief) ? brief.open : brief.closed;
  const isRanked = countByCurrency && sections.has('groups') && !isInOrder(brief.by);
  const allNotes = [...notes, ...(isRanked ? [rankedInCurrencies] : []), ...asked.notes];
  const summary = [...scopeOf(asked.filters), ...summaryOf(brief, sections)];
  const write = (rows: number): Answer => {
    const records = deals?.records.slice(0, rows);
    const page = deals && records && pageOf(records.length, deals.from, deals.total);
    const listed = page ? listedWords(page, 'deals_from') : [];
    return {
      summary: join([...summary, ...listed], ' '),
      data: {
        ...shownFigures(figures, sections, rows),
        ...compact({ records, page }),
        coverage: asked.coverage,
      },
      notes: allNotes,
    };
  };
  return answerWithRows(count ?? 2, write, deals && asked.rows === undefined ? aim : undefined);
}

function sectionsOf(brief: Brief, { sections, dealsFrom }: Asked): readonly PipelineSection[] {
  if (sections && sections.length > 0) return sections;
  if (dealsFrom !== undefined) return ['deals'];
  return isOpenBrief(brief) ? openSections : closedSections;
}

/** Without the sections that are not wanted, and with at most so many rows in each list of deals. */
function shownFigures(
  figures: Record<string, unknown>,
  sections: ReadonlySet<PipelineSection>,
  rows: number,
): Record<string, unknown> {
  const isClosedShown = sections.has('closed') || 'outcome' in figures;
  const kept = Object.entries(figures).filter(([field]) =>
    field === 'closed'
      ? isClosedShown
      : !isKeyOf(sectionOf, field) || sections.has(sectionOf[field]),
  );
  return limitLists(Object.fromEntries(kept), rows);
}

async function listDeals({ deals, rowOf, rows = maxDeals, dealsFrom: from = 0 }: Asked) {
  const all = await deals();
  return { records: all.slice(from, from + rows).map(rowOf), from, total: all.length };
}

/** Which deals the figures are about, where filters narrow them. */
export function scopeOf(filters: PipelineFilters): Wording[] {
  const { owner, company, stage, category, source, currency, closeFrom, closeTo, minValue } =
    filters;
  const others: Wording[] = [];
  const from = closeFrom === undefined ? '' : wording` from ${trusted(closeFrom)}`;
  const to = closeTo === undefined ? '' : wording` up to ${trusted(closeTo)}`;
  if (closeFrom ?? closeTo) others.push(wording`expected to close${from}${to}`);
  if (minValue !== undefined) others.push(wording`worth ${formatNumber(minValue)} or more`);
  return describeScope({ owner, company, stage, category, source, currency }, others);
}

function summaryOf(brief: Brief, sections: ReadonlySet<PipelineSection>): Wording[] {
  if (!isOpenBrief(brief)) return closedSummary(brief);
  const closed = sections.has('closed') ? [wording`${closedCounts(brief.closed)}.`] : [];
  return [openSummary(brief, sections), ...closed];
}

/** The figures of a target as a sentence. */
function targetWords({ target }: PipelineBrief): Wording {
  if (!target) return wording``;
  const { won, gap, coverage, overdue } = target;
  const isShort = Object.values(gap).some((amount) => amount > 0);
  const short = isShort
    ? wording`${formatAmounts(gap)} short of the target`
    : wording`target reached`;
  const cover =
    coverage === undefined
      ? ''
      : wording`, covered ${coverage} times by open deals (${formatAmounts(overdue)} of them overdue)`;
  return wording` ${formatAmounts(won)} won: ${short}${cover}.`;
}

function openSummary(brief: PipelineBrief, sections: ReadonlySet<PipelineSection>): Wording {
  const { open, overdue, stalled } = brief;
  const counts = [
    ...(sections.has('overdue') ? [wording`${overdue.total} overdue`] : []),
    ...(sections.has('stalled') ? [wording`${stalled.total} stalled`] : []),
  ];
  const more = counts.length > 0 ? wording`: ${join(counts, ', ')}` : wording``;
  const worth = open.value
    ? wording`, total contract value ${formatAmounts(open.value)}`
    : wording``;
  return wording`${plural(open.count, 'open opportunity')}${worth}${more}.${targetWords(brief)}`;
}

function closedSummary({ closed, outcome }: ClosedBrief): Wording[] {
  const { value } = outcome === 'lost' ? closed.lost : closed.won;
  const ending = outcome === 'lost' ? 'Lost' : 'Won';
  const rate = closed.winRatePercent;
  return [
    wording`${closedCounts(closed)}.`,
    ...(value ? [wording`${ending}: total contract value ${formatAmounts(value)}.`] : []),
    ...(rate === undefined ? [] : [wording`Win rate ${rate} % by count.`]),
  ];
}

/** Never says "0 won" or "0 lost" while deals are closed whose outcome is unknown. */
function closedCounts({ from, to, won, lost, outcomeUnknown }: ClosedPeriod): Wording {
  const isAll = outcomeUnknown === undefined;
  const counts = [
    ...(isAll || won.count > 0 ? [wording`${won.count} won`] : []),
    ...(isAll || lost.count > 0 ? [wording`${lost.count} lost`] : []),
    ...(isAll ? [] : [wording`${outcomeUnknown.count} closed with unknown outcome`]),
  ];
  return wording`${join(counts, ', ')} from ${trusted(from)} to ${trusted(to)}`;
}
