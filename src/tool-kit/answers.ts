import { utcDay } from '../figures/days.ts';
import { isCurrencyCode, unknownCurrency } from '../figures/money.ts';
import { compact } from '../figures/naming.ts';
import { concise } from '../lists/concise.ts';
import { knownFor } from '../lists/known.ts';
import type { Coverage } from '../reading/coverage.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import type { ToolCall } from '../tenant/call.ts';
import type { Resolution } from '../tenant/lookup.ts';
import type { Tenant } from '../tenant/tenant.ts';
import {
  counted,
  identifier,
  join,
  quote,
  trusted,
  type Wording,
  wording,
} from '../text/untrusted-text.ts';
import { isObject, isOneOf } from '../values.ts';
import type { Answer } from './define-tool.ts';

/** A time as answers show it: ISO 8601, to the second in UTC. */
export const toIsoSeconds = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;

export function toCoverage(coverage: Coverage & { asOf: Date }): Record<string, unknown> {
  const { complete, read, total, asOf, reason } = coverage;
  return compact({ complete, read, total, asOf: toIsoSeconds(asOf), reason });
}

/** Reasons that need no warning, because the summary of a page says how many records there are. */
const pageReasons = ['one page', 'not counted'];
export const isPageReason = (reason: unknown): boolean => isOneOf(pageReasons, reason);

/** The summary; for an incomplete answer, it begins with the share that was read. */
export function withCoverageFirst({ summary, data }: Answer): Wording {
  const { complete, read, total, reason } = (data.coverage ?? {}) as Partial<Coverage>;
  if (complete !== false || read === undefined || isPageReason(reason)) return summary;
  return total === undefined || total <= read
    ? wording`Incomplete: there may be more than the ${counted(read)} records that could be read. ${summary}`
    : wording`Incomplete: only ${counted(read)} of ${counted(total)} records could be read. ${summary}`;
}

/** Coverage of a log of this server, of which `damaged` entries cannot be read. */
export function logCoverage(read: number, damaged: number, reason: string): object {
  const coverage = { complete: damaged === 0, read, total: read + damaged, asOf: new Date() };
  return toCoverage(damaged === 0 ? coverage : { ...coverage, reason });
}

/**
 * An answer of `count` rows; `mcp/results` has it written again with fewer where it is too long, or, with `aim`,
 * where it has more tokens than that.
 */
export const answerWithRows = (
  count: number,
  write: (count: number) => Answer,
  aim?: number,
): Answer => ({
  ...write(count),
  rows: { count, keep: (fewer) => answerWithRows(fewer, write, aim), aim },
});

/** Which rows of a list are shown, and the position of the next one. */
export interface Page {
  shown: number;
  from: number;
  total: number;
  next?: number;
}

export const pageOf = (shown: number, from: number, total: number): Page => ({
  shown,
  from,
  total,
  ...(shown > 0 && from + shown < total && { next: from + shown }),
});

/** The fields of a brief with at most so many rows in each list; `groups` are whole. */
export const limitLists = (
  figures: Readonly<Record<string, unknown>>,
  limit: number,
): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(figures).map(([field, value]) => [
      field,
      field === 'groups' ? value : limitRows(value, limit),
    ]),
  );

function limitRows(value: unknown, limit: number): unknown {
  if (!isObject(value) || !Array.isArray(value.rows)) return value;
  const rows = value.rows.slice(0, limit);
  return { ...value, shown: rows.length, rows };
}

/** The first words of an answer on a deleted record; nothing if it is not deleted. */
export function deletedWords(deletion: string | true | undefined): Wording {
  if (deletion === undefined) return wording``;
  return deletion === true ? wording`Deleted: ` : wording`Deleted on ${identifier(deletion)}: `;
}

/** Today by the server's clock, in UTC. */
export const today = (): string => utcDay(new Date());

/** Amounts by currency as text: "12,500 EUR, 40 GBP and 300 USD". */
export function formatAmounts(amounts: Readonly<Record<string, number>> | undefined): Wording {
  const words = Object.entries(amounts ?? {}).map(([currency, amount]) => {
    const whole = counted(Math.round(amount));
    const isKnown = currency !== unknownCurrency && isCurrencyCode(currency);
    return isKnown ? wording`${whole} ${trusted(currency)}` : wording`${whole} (currency unknown)`;
  });
  const last = words.pop() ?? wording``;
  return words.length === 0 ? last : wording`${join(words, ', ')} and ${last}`;
}

/** Lists the records that match a text equally well, so that the caller can choose one. */
export async function ambiguousAnswer<R extends Resource>(
  tenant: Tenant,
  resource: R,
  text: string,
  { kind, candidates, total, coverage }: Exclude<Resolution<RecordOf[R]>, { kind: 'one' }>,
  call: ToolCall,
): Promise<Answer> {
  const known = await knownFor(tenant, resource, candidates, call);
  const what = trusted(resource);
  const records = candidates.map((record) => concise(resource, record, known));
  const summary =
    total === 0
      ? wording`No ${what} is called ${quote(text)}.`
      : kind === 'several'
        ? wording`Which ${what}? ${total} are called ${quote(text)}.`
        : wording`No ${what} is called exactly ${quote(text)}; ${total} ${total === 1 ? 'is' : 'are'} similar.`;
  const notes =
    total === 0
      ? [wording`Try fewer words, another spelling, or cpq_find.`]
      : total === 1
        ? [wording`Ask the person whether it is meant, then call again with its id.`]
        : [wording`Ask the person which one, then call again with its id.`];
  const shared = coverage.complete ? {} : { coverage: toCoverage(coverage) };
  return { summary, data: { records, ...shared }, notes };
}
