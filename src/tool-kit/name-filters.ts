/**
 * The filters by name of every brief, such as `owner` and `currency`: a text is resolved among what
 * occurs, and a text that means none or several is asked back, without figures.
 */
import type { PipelineFilters } from '../briefs/pipeline/pipeline.ts';
import { compact } from '../figures/fields.ts';
import { type CurrencyOf, currencyOfRecord, formatNumber } from '../figures/money.ts';
import { runSteps } from '../figures/steps.ts';
import {
  type Candidate,
  excludesNothing,
  isNegated,
  matchSteps,
  type NameFilter,
  type NameMatch,
} from '../names/name-filters.ts';
import type { FieldGap } from '../service/records/account.ts';
import type { Company, Opportunity } from '../service/records/records.ts';
import { join, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { isOneOf, keysOf } from '../values.ts';
import type { Answer } from './define-tool.ts';
import type { dealFilterInput } from './schemas.ts';

/** The resolved filters, or the question to ask if one is unclear. */
type ResolvedFilters<F extends string> =
  | { filters: { [K in F]?: NameFilter }; question?: never }
  | { question: Answer; filters?: never };

/**
 * Resolves the filters among `given`, in the order of `occurring`, which makes the references or records of each and is
 * called only for a filter that was given. `coverage` is of what was searched.
 */
export function resolveFilters<F extends string>(
  given: { readonly [K in NoInfer<F>]?: string | undefined },
  occurring: { readonly [K in F]: () => Iterable<Candidate | undefined> },
  coverage: Record<string, unknown>,
): ResolvedFilters<F> {
  const filters: { [K in F]?: NameFilter } = {};
  for (const filter of keysOf(occurring)) {
    const text = given[filter];
    if (text === undefined) continue;
    // A company is often named by a word that others share, a person by one that nobody else has.
    const byWords = filter !== 'company';
    const found = runSteps(matchSteps(text, occurring[filter](), { byWords }));
    if (found.kind !== 'one') {
      const [summary, note] = wordsOf(trusted(filter), text, found);
      const about = coverageOf(filter, coverage);
      const data = { filter, records: found.candidates, coverage: about };
      return { question: { summary: wording`${summary} No figures yet.`, data, notes: [note] } };
    }
    filters[filter] = found.match;
  }
  return { filters };
}

type DealFilters = { readonly [F in keyof typeof dealFilterInput]?: string | undefined } & {
  readonly min_value?: number | undefined;
};

/** The filters of `dealFilterInput`, resolved among these deals. A company may have no deals. */
export function resolveDealFilters(
  { close_from, close_to, min_value, ...given }: DealFilters,
  deals: readonly Opportunity[],
  companies: readonly Company[] = [],
  currencyOf: CurrencyOf,
  coverage: Record<string, unknown>,
): { filters: PipelineFilters; question?: never } | { question: Answer; filters?: never } {
  const { filters, question } = resolveFilters(
    given,
    {
      owner: () => deals.map((deal) => deal.owner),
      company: () => [...companies, ...deals.map((deal) => deal.company)],
      stage: () => deals.map((deal) => deal.pipelineStage),
      category: () => deals.map((deal) => deal.category),
      source: () => deals.map((deal) => deal.source),
      currency: () => deals.map((deal) => ({ name: currencyOfRecord(deal, currencyOf) })),
    },
    coverage,
  );
  if (question) return { question };
  const limits = compact({ closeFrom: close_from, closeTo: close_to, minValue: min_value });
  return { filters: { ...filters, ...limits } };
}

type Unclear = Exclude<NameMatch, { kind: 'one' }>;

/** The filters that lists have too. */
const filtersOfLists = ['owner', 'company', 'stage', 'category', 'source'] as const;

/** What is unclear, and what to do. */
function wordsOf(what: Wording, text: string, found: Unclear): [Wording, Wording] {
  if (found.kind === 'several')
    return [
      wording`Which ${what}? ${quote(text)} could be any of ${found.total}.`,
      wording`Ask the person which ${what}, then call again with its id.`,
    ];
  if (found.nothingOccurs)
    return [
      wording`The filter ${what} does not apply: none of the records has one.`,
      wording`Leave the filter ${what} out.`,
    ];
  const isNamed = isOneOf<string>(filtersOfLists, what);
  // Those of a fixed set, such as a status, exist even where no record has them.
  const none = isNamed
    ? wording`No ${what} is called ${quote(text)}.`
    : wording`None has the ${what} ${quote(text)}.`;
  if (isNegated(text)) return [none, excludesNothing];
  const asksForNone = ['none', `no ${what}`, `without ${what}`].includes(text.trim().toLowerCase());
  if (asksForNone && isNamed)
    return [none, wording`Records without ${what}: filters ${what}:none of the list tools.`];
  return found.candidates.length === 0
    ? [
        none,
        wording`None that occurs is similar: try another spelling, or leave the filter ${what} out.`,
      ]
    : [none, wording`The nearest names come first: if one of them is meant, call again with it.`];
}

/** A question has no figures: of the fields that could not be read, only those that it asks by matter. */
function coverageOf(filter: string, coverage: Record<string, unknown>): Record<string, unknown> {
  const { fields, ...others } = coverage;
  if (!Array.isArray(fields)) return coverage;
  const asked = fields.filter(
    ({ record, field }: FieldGap) =>
      record === filter || field === 'fields' || field.toLowerCase().includes(filter),
  );
  return asked.length > 0 ? { ...others, fields: asked } : others;
}

/**
 * The first words of an answer that filters narrow: `Only owner "Lucy O'Connor", with "switch" in a line.` A text may mean
 * more than its words say, so this names what was found. Nothing if there is no filter.
 */
export function describeScope(
  filters: Readonly<Record<string, NameFilter | undefined>>,
  others: readonly (Wording | false)[] = [],
): Wording | false {
  const named = keysOf(filters).flatMap((filter) => {
    const found = filters[filter];
    return found ? [wording`${trusted(filter.replace('_', ' '))} ${nameOf(found)}`] : [];
  });
  const parts = join([...named, ...others], ', ');
  return parts !== '' && wording`Only ${parts}.`;
}

/** Which deals the figures are about, where filters narrow them. */
export function describeDealScope(filters: PipelineFilters): Wording | false {
  const { closeFrom, closeTo, minValue, ...named } = filters;
  const from = closeFrom !== undefined && wording` from ${trusted(closeFrom)}`;
  const to = closeTo !== undefined && wording` up to ${trusted(closeTo)}`;
  return describeScope(named, [
    (from || to) && wording`expected to close${from}${to}`,
    minValue !== undefined && wording`worth ${formatNumber(minValue)} or more`,
  ]);
}

function nameOf({ id, name, deleted }: NameFilter): Wording {
  return wording`${quote(name ?? id ?? '')}${deleted === true && ', which is deleted'}`;
}
