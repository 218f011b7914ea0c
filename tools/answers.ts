import type { RecordOf, Resource } from '../src/api/records.ts';
import { concise, full, only } from '../src/briefs/concise.ts';
import { unknownCurrency } from '../src/briefs/money.ts';
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

/** A stretch of a list, with how to get the next one. `things` is the plural that people say. */
export function listAnswer<R extends Resource>(
  resource: R,
  things: string,
  listed: Listed<RecordOf[R]>,
  wanted: Wanted,
  hints: { empty: string; notes?: readonly string[] },
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
  things: string,
  { from, total, coverage }: Listed<unknown>,
  shown: number,
  next: number | undefined,
): string {
  if (shown === 0)
    return total > 0 ? `No ${things} from ${from}: there are ${total}.` : `No ${things}.`;
  const of = coverage.complete || coverage.reason === 'one page' ? `${total}` : `at least ${total}`;
  const stretch =
    shown === total ? `All ${total} ${things}` : `${shown} of ${of} ${things}, from ${from}`;
  return next === undefined ? `${stretch}.` : `${stretch}. Next: the same call with from ${next}.`;
}

/** Why a search may have found nothing, and what to try. */
export const emptySearch = (findBy: string): string =>
  `Nothing matches. The name may be spelt otherwise: try fewer words in query, or leave filters out; ${findBy}.`;

/** The day it is, for what is overdue and what is valid: that of the server's own clock, in UTC. */
export const today = (): string => new Date().toISOString().slice(0, 10);

/** Amounts by currency in words: "12,500 EUR, 40 GBP and 300 USD". */
export function inWords(amounts: Readonly<Record<string, number>> | undefined): string {
  const words = Object.entries(amounts ?? {}).map(([currency, amount]) => {
    const whole = Math.round(amount).toLocaleString('en-US');
    return currency === unknownCurrency ? `${whole} (currency unknown)` : `${whole} ${currency}`;
  });
  const last = words.pop() ?? '';
  return words.length === 0 ? last : `${words.join(', ')} and ${last}`;
}

/** Nothing was guessed: who could be meant. */
export function askWhich<R extends Resource>(
  resource: R,
  text: string,
  { candidates, total }: { candidates: RecordOf[R][]; total: number },
): Answer {
  const records = candidates.map((record) => concise(resource, record));
  const summary =
    total === 0
      ? `No ${resource} is called "${text}".`
      : `"${text}" is not one ${resource} exactly; ${total} could be meant.`;
  const notes =
    total === 0
      ? ['Try fewer words, another spelling, or cpq_find.']
      : ['Ask the person which one, then call again with its id.'];
  return { summary, data: { records }, notes };
}
