/** Deals in ranked groups; groups beyond a limit are merged into one, so that the sums still add up. */

import { type Day, dayOf, daysFromTo, meanDays } from '../../figures/days.ts';
import { type Deal, dealAmounts, scaleDeal, totalValue } from '../../figures/deals.ts';
import { compact, nonBlank } from '../../figures/fields.ts';
import {
  bandLabel,
  collectGroups,
  type GroupRow,
  groupRows,
  type Label,
  lineLabel,
  monthLabel,
  quarterLabel,
} from '../../figures/group-labels.ts';
import type { LimitedList } from '../../figures/lists.ts';
import { type Decimal, zero } from '../../figures/money.ts';
import { named } from '../../figures/naming.ts';
import { isDeleted } from '../../figures/outcome.ts';
import { statusCategoryOf } from '../../figures/quote-state.ts';
import { firstYearValue, sumItems } from '../../figures/quote-totals.ts';
import { flatMapSteps, forEachStep, recordsById, type Steps } from '../../figures/steps.ts';
import { companyOf, labelsOf } from '../../names/references.ts';
import type { Company, Quote } from '../../service/records/records.ts';
import { fieldOf, isKeyOf, isObject, isOneOf, keysOf } from '../../values.ts';
import { closedFigures, type DealOutcome } from './won-and-lost.ts';

export const pipelineBy = [
  'stage',
  'owner',
  'company',
  'category',
  'source',
  'close_month',
  'close_quarter',
  'band',
  'size',
] as const;

export type PipelineBy = (typeof pipelineBy)[number];

/** Of the company. */
const places = ['country', 'city'] as const;

/** Of the lines of the last quote of the deal. */
const ofLines = { product: 'product', product_category: 'category' } as const;

export const isOfLines = (by: string | undefined): by is keyof typeof ofLines =>
  by !== undefined && isKeyOf(ofLines, by);

const isOfCompanies = (by: string): boolean => by === 'label' || isOneOf<string>(places, by);

/** The collections without which deals would be in the group of those that have none. */
export const collectionsOf = (by = ''): ('company' | 'quote')[] =>
  isOfLines(by) ? ['quote'] : isOfCompanies(by) ? ['company'] : [];

/** Also by what companies, quotes and custom fields say, which snapshots do not have. */
export const briefBy = [...pipelineBy, 'label', ...places, ...keysOf(ofLines)] as const;

export const inCustomField = 'customFields.';

export type BriefBy = (typeof briefBy)[number] | `${typeof inCustomField}${string}`;

export const isBriefBy = (text: string): text is BriefBy =>
  isOneOf<string>(briefBy, text) || isCustom(text);

const isCustom = (by: string): by is `${typeof inCustomField}${string}` =>
  by.startsWith(inCustomField);

const customName = (by: string): string => by.slice(inCustomField.length);

export interface GroupOptions {
  today: Day;
  by: BriefBy;
  /** For groups by label and place. */
  companies?: readonly Company[] | undefined;
  /** For groups by product and its category. */
  quotes?: readonly Quote[] | undefined;
  /** Groups beyond it become a last row, "N others". */
  maxGroups: number;
}

const missing: Readonly<Record<string, string>> = {
  close_month: 'no close date',
  close_quarter: 'no close date',
  band: 'no probability',
  size: 'no value',
};

export const missingLabel = (by: BriefBy): string =>
  missing[by] ?? `no ${isCustom(by) ? customName(by) : by.replace('_', ' ')}`;

/** Probability of the bands of a forecast, 0–1. */
const bands = [
  ['commit (75 % or more)', 0.75],
  ['best case (50 to under 75 %)', 0.5],
  ['pipeline (under 50 %)', 0],
] as const;

function bandOf(chance: Deal['chance']): Label {
  const key = chance ? bands.findIndex(([, from]) => chance.gte(from)) : -1;
  return key < 0 ? {} : compact({ name: bands[key]?.[0], key });
}

/** Groups that have an order of their own. */
export const isInOrder = (by: BriefBy): boolean => isOfDays(by) || by === 'band' || by === 'size';

const isOfDays = (by: BriefBy): by is 'close_month' | 'close_quarter' =>
  by === 'close_month' || by === 'close_quarter';

export const dealLabel = (deal: Deal, by: PipelineBy): Label => {
  const { record, chance, value } = deal;
  if (isOfDays(by)) return spanLabel(dayOf(record.expectedCloseDate), by);
  if (by === 'band') return bandOf(chance);
  if (by === 'size') return bandLabel(value?.toNumber(), [1_000, 10_000, 25_000, 100_000]);
  return named(by === 'stage' ? record.pipelineStage : record[by]);
};

const spanLabel = (day: Day | undefined, by: BriefBy): Label =>
  by === 'close_month' ? monthLabel(day) : quarterLabel(day);

/** The labels of the deal and its company, the place of the company, or the values of a custom field. */
function labelsBy(
  deal: Deal,
  by: BriefBy,
  companies: ReadonlyMap<string | undefined, Company>,
): Label | Label[] {
  const { record } = deal;
  if (isOneOf<PipelineBy>(pipelineBy, by)) return dealLabel(deal, by);
  if (isOneOf<string>(places, by)) {
    const { address } = companies.get(companyOf(record).id) ?? {};
    return compact({ name: nonBlank(fieldOf(address, by)) });
  }
  const values = isCustom(by)
    ? [fieldOf(record.customFields, customName(by)) ?? []].flat().map(textOf)
    : labelsOf(record, companies);
  const names = new Set(values.flatMap((value) => nonBlank(value) ?? []));
  return names.size > 0 ? [...names].map((name) => ({ name })) : {};
}

/** A choice may be an object with a name, or an id alone. */
const textOf = (value: unknown): string =>
  isObject(value) ? String(value.name ?? value.id ?? JSON.stringify(value)) : String(value);

export type PipelineGroup = GroupRow<ReturnType<typeof openFigures>>;

/** Groups of open deals; a month that has begun is without its overdue deals. */
export const groupOpen = (deals: readonly Deal[], options: GroupOptions) =>
  groupDeals(deals, options, {
    spanOf({ record }) {
      const closes = dayOf(record.expectedCloseDate);
      return closes && closes < options.today
        ? { name: 'overdue', key: '' }
        : spanLabel(closes, options.by);
    },
    rankedBy: () => true,
    figuresOf: (group) => openFigures(group, options),
  });

export type ClosedGroup = GroupRow<ReturnType<typeof closedFigures>>;

/** Groups of closed deals, ranked by what was won; if the brief is about lost deals, by what was lost. */
export const groupClosed = (deals: readonly Deal[], about: DealOutcome, options: GroupOptions) =>
  groupDeals(deals, options, {
    spanOf: ({ record }) => spanLabel(dayOf(record.closedAt), options.by),
    rankedBy: ({ outcome }) => outcome === (about === 'lost' ? 'lost' : 'won'),
    showsLast: isOfDays(options.by),
    figuresOf: closedFigures,
  });

interface Grouping<Figures extends object> {
  /** The deal's month or quarter, if the deals are grouped by one. */
  spanOf(deal: Deal): Label;
  /** Which deals of a group it is ranked by. */
  rankedBy(deal: Deal): boolean;
  /** As in `groupRows`. */
  showsLast?: boolean;
  figuresOf(deals: readonly Deal[]): Figures;
}

/**
 * Groups deals by the id of what `by` names, or by its name if it has no id. Ranked by the largest value in one
 * currency, then by count, name and id. Months, quarters and bands are in their order.
 */
function* groupDeals<Figures extends object>(
  deals: readonly Deal[],
  { by, maxGroups: limit, companies = [], quotes = [] }: GroupOptions,
  { spanOf, rankedBy, showsLast = false, figuresOf }: Grouping<Figures>,
): Steps<LimitedList<GroupRow<Figures>>> {
  const ranksOf = (group: readonly Deal[]) => {
    const ranked = group.filter(rankedBy);
    return [totalValue(ranked).largest, ranked.length];
  };
  const shared = { limit, showsLast, missing: missingLabel(by) };
  if (isOfLines(by))
    return yield* groupRows(yield* partsByLine(deals, ofLines[by], quotes), {
      ...shared,
      labelsOf: ({ label }) => label,
      ranksOf: (parts) => ranksOf(dealsOfParts(parts)),
      figuresOf: (parts) => figuresOf(dealsOfParts(parts)),
    });
  const byId = yield* recordsById(isOfCompanies(by) ? companies : []);
  return yield* groupRows(deals, {
    ...shared,
    labelsOf: (deal) => (isOfDays(by) ? spanOf(deal) : labelsBy(deal, by, byId)),
    ranksOf,
    figuresOf,
  });
}

/** Amounts by currency; mean days since creation and since the last stage change, of the deals for which each is known. */
function openFigures(deals: readonly Deal[], { by, today }: GroupOptions) {
  const since = (time: 'createdAt' | 'stageUpdatedAt') =>
    meanDays(deals.flatMap(({ record }) => daysFromTo(record[time], today) ?? []));
  return compact({
    count: deals.length,
    ...dealAmounts(deals),
    // Where groups are stages, the days in them say more, and the answer is to stay short.
    ageDays: by === 'stage' ? undefined : since('createdAt'),
    daysInStage: since('stageUpdatedAt'),
  });
}

/** The part of a deal that is about one product or category: `worth` of the value of all lines, which is `of`. */
interface DealPart {
  deal: Deal;
  label: Label;
  worth: Decimal;
  of: Decimal;
}

/** A deal without a quote, or whose quote has no line worth more than 0, is one part. */
function* partsByLine(
  deals: readonly Deal[],
  by: 'category' | 'product',
  quotes: readonly Quote[],
): Steps<DealPart[]> {
  const lastQuoteOf = yield* lastQuotes(quotes);
  return yield* flatMapSteps(deals, (deal): readonly DealPart[] => {
    const { items = [] } = lastQuoteOf.get(deal.record.id) ?? {};
    const groups = collectGroups(items, (item) => lineLabel(item, by)).flatMap((group) => {
      const worth = firstYearValue(sumItems(group.items));
      return worth?.gt(0) ? [{ label: group.label, worth }] : [];
    });
    const of = groups.reduce((sum, { worth }) => sum.plus(worth), zero);
    if (groups.length === 0) return [{ deal, label: unquoted, worth: one, of: one }];
    return groups.map((group) => ({ deal, of, ...group }));
  });
}

const one = zero.plus(1);
const unquoted: Label = { name: 'no quote lines' };

/** By opportunity: of its quotes that are not deleted an accepted one, else any; of several the newest. */
function* lastQuotes(quotes: readonly Quote[]): Steps<ReadonlyMap<string | undefined, Quote>> {
  const last = new Map<string | undefined, Quote>();
  const rankOf = (quote: Quote): string =>
    `${Number(statusCategoryOf(quote) === 'approved')} ${dayOf(quote.createdAt) ?? ''} ${quote.id ?? ''}`;
  yield* forEachStep(quotes, (quote) => {
    const id = quote.opportunity?.id;
    if (id === undefined || isDeleted(quote)) return;
    const other = last.get(id);
    if (other === undefined || rankOf(quote) > rankOf(other)) last.set(id, quote);
  });
  return last;
}

/** Each deal of these parts once, with their share of its amounts. */
function dealsOfParts(parts: readonly DealPart[]): Deal[] {
  const byDeal = new Map<Deal, { worth: Decimal; of: Decimal }>();
  for (const { deal, worth, of } of parts)
    byDeal.set(deal, { of, worth: worth.plus(byDeal.get(deal)?.worth ?? zero) });
  return [...byDeal].map(([deal, { worth, of }]) =>
    scaleDeal(deal, (amount) => amount.times(worth).div(of)),
  );
}
