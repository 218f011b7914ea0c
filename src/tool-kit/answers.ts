import { utcDay } from '../figures/days.ts';
import { isCurrencyCode, unknownCurrency } from '../figures/money.ts';
import { compact } from '../figures/naming.ts';
import { concise } from '../lists/concise.ts';
import { knownFor } from '../lists/known.ts';
import type { SearchKind } from '../names/search.ts';
import type { Coverage } from '../reading/coverage.ts';
import type { RecordOf } from '../service/records/records.ts';
import type { ToolCall } from '../tenant/call.ts';
import { resolveRecord } from '../tenant/lookup.ts';
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
import { isObject } from '../values.ts';
import type { Answer } from './define-tool.ts';

/** A time as answers show it: ISO 8601, to the second in UTC. */
export const toIsoSeconds = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;

export function toCoverage(coverage: Coverage & { asOf: Date }): Record<string, unknown> {
  const { complete, read, total, asOf, reason } = coverage;
  return compact({ complete, read, total, asOf: toIsoSeconds(asOf), reason });
}

/** They need no warning, because the summary of a page says how many records there are. */
export const pageReasons: ReadonlySet<unknown> = new Set(['one page', 'not counted']);

/** The summary; for an incomplete answer, it begins with the share that was read. */
export function withCoverageFirst({ summary, data }: Answer): Wording {
  const { complete, read, total, reason } = (data.coverage ?? {}) as Partial<Coverage>;
  if (complete !== false || read === undefined || pageReasons.has(reason)) return summary;
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

/** The record that a text means, or the answer that asks which of several is meant. With `askFirst` as `resolveRecord`. */
export async function recordOrQuestion<K extends SearchKind>(
  tenant: Tenant,
  kind: K,
  text: string,
  call: ToolCall,
  askFirst = false,
): Promise<{ record: RecordOf[K]; question?: never } | { question: Answer; record?: never }> {
  const found = await resolveRecord(tenant, kind, text, call, { askFirst });
  if (found.kind === 'one') return { record: found.record };
  const { candidates, total, coverage } = found;
  const known = await knownFor(tenant, kind, candidates, call);
  const what = trusted(kind);
  const similar = wording`No ${what} is called exactly ${quote(text)}; ${total} ${total === 1 ? 'is' : 'are'} similar.`;
  const summary =
    total === 0
      ? wording`No ${what} is called ${quote(text)}.`
      : found.kind === 'several'
        ? wording`Which ${what}? ${total} are called ${quote(text)}.`
        : similar;
  const whether = total === 1 ? 'whether it is meant' : 'which one';
  const next =
    total === 0
      ? wording`Try fewer words, another spelling, or cpq_find.`
      : wording`Ask the person ${whether}, then call again with its id.`;
  const records = candidates.map((record) => concise(kind, record, known));
  const shared = coverage.complete ? {} : { coverage: toCoverage(coverage) };
  return { question: { summary, data: { records, ...shared }, notes: [next] } };
}
