import type { RecordOf, Resource } from '../src/api/records.ts';
import { concise, full, only } from '../src/briefs/concise.ts';
import { isCurrencyCode, unknownCurrency } from '../src/briefs/money.ts';
import { counted, join, quote, trusted, type Wording, wording } from '../src/outside-text.ts';
import type { Coverage } from '../src/tenant/reading/coverage.ts';
import type { Listed } from '../src/tenant/tenant.ts';
import type { Answer } from './define.ts';

export interface Wanted {
  detail: 'concise' | 'full';
  fields?: string[] | undefined;
}

/** What a coverage looks like in an answer. */
export function covers(coverage: Coverage & { asOf: Date }): Record<string, unknown> {
  const { complete, read, total, asOf, reason } = coverage;
  const said = { complete, read, total, asOf: `${asOf.toISOString().slice(0, 19)}Z` };
  return reason === undefined ? said : { ...said, reason };
}

/** One record as wanted. */
export function shaped<R extends Resource>(
  resource: R,
  record: RecordOf[R],
  { detail, fields }: Wanted,
): Record<string, unknown> {
  if (fields && fields.length > 0) return only(record, fields);
  return detail === 'full' ? full(record) : concise(resource, record);
}

/** The plural that people say. */
export type Things =
  | 'categories'
  | 'companies'
  | 'contacts'
  | 'contract items'
  | 'discount groups'
  | 'opportunities'
  | 'pricing books'
  | 'products'
  | 'quote templates'
  | 'quote widgets'
  | 'quotes';

/** A stretch of a list, with how to get the next one. `things` is the plural that people say. */
export function listAnswer<R extends Resource>(
  resource: R,
  things: Things,
  listed: Listed<RecordOf[R]>,
  wanted: Wanted,
  hints: { empty: Wording; notes?: readonly Wording[] },
): Answer {
  const shapes = listed.records.map((record) => shaped(resource, record, wanted));
  const facets = listed.facets === undefined ? {} : { facets: listed.facets };
  const keep = (count: number): Answer => {
    const shown = Math.min(count, shapes.length);
    const next = shown < shapes.length ? listed.from + shown : listed.next;
    const page = { shown, from: listed.from, total: listed.total };
    return {
      summary: summaryOf(things, listed, shown, next),
      data: {
        records: shapes.slice(0, shown),
        page: next === undefined ? page : { ...page, next },
        coverage: covers(listed.coverage),
        ...(wanted.detail === 'full' ? facets : {}),
      },
      notes: shown === 0 ? [hints.empty, ...(hints.notes ?? [])] : (hints.notes ?? []),
      rows: { count: shown, keep },
    };
  };
  return keep(shapes.length);
}

function summaryOf(
  things: Things,
  { from, total, coverage }: Listed<unknown>,
  shown: number,
  next: number | undefined,
): Wording {
  if (shown === 0)
    return total > 0
      ? wording`No ${things} from ${from}: there are ${total}.`
      : wording`No ${things}.`;
  const isExact = coverage.complete || coverage.reason === 'one page';
  const of = isExact ? wording`${total}` : wording`at least ${total}`;
  const stretch =
    shown === total
      ? wording`All ${total} ${things}`
      : wording`${shown} of ${of} ${things}, from ${from}`;
  return next === undefined
    ? wording`${stretch}.`
    : wording`${stretch}. Next: the same call with from ${next}.`;
}

/** Why a search may have found nothing, and what to try. */
export const emptySearch = (findBy: Wording): Wording =>
  wording`Nothing matches. The name may be spelt otherwise: try fewer words in query, or leave filters out; ${findBy}.`;

/** The day it is, for what is overdue and what is valid: that of the server's own clock, in UTC. */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** Amounts by currency in words: "12,500 EUR, 40 GBP and 300 USD". */
export function inWords(amounts: Readonly<Record<string, number>> | undefined): Wording {
  const words = Object.entries(amounts ?? {}).map(([currency, amount]) => {
    const whole = counted(Math.round(amount));
    const isKnown = currency !== unknownCurrency && isCurrencyCode(currency);
    return isKnown ? wording`${whole} ${trusted(currency)}` : wording`${whole} (currency unknown)`;
  });
  const last = words.pop() ?? wording``;
  return words.length === 0 ? last : wording`${join(words, ', ')} and ${last}`;
}

/** Nothing was guessed: who could be meant. */
export function askWhich<R extends Resource>(
  resource: R,
  text: string,
  { candidates, total }: { candidates: RecordOf[R][]; total: number },
): Answer {
  const kind = trusted(resource);
  const records = candidates.map((record) => concise(resource, record));
  const summary =
    total === 0
      ? wording`No ${kind} is called ${quote(text)}.`
      : wording`${quote(text)} is not one ${kind} exactly; ${total} could be meant.`;
  const notes =
    total === 0
      ? [wording`Try fewer words, another spelling, or cpq_find.`]
      : [wording`Ask the person which one, then call again with its id.`];
  return { summary, data: { records }, notes };
}
