/** The record that an answer is about: which one is meant, where it is found, whether it is deleted. */

import { concise } from '../lists/concise.ts';
import { knownFor } from '../lists/known.ts';
import type { SearchKind } from '../names/search.ts';
import type { RecordOf, Resource } from '../service/records/records.ts';
import { resolveRecord } from '../tenant/lookup.ts';
import type { Tenant, ToolCall } from '../tenant/tenant.ts';
import { identifier, quote, trusted, type Wording, wording } from '../text/untrusted-text.ts';
import { toCoverage } from './answers.ts';
import type { Answer } from './define-tool.ts';

/** The first words of an answer on a deleted record. */
export const deletedWords = (deletion: string | true | undefined): Wording | false =>
  deletion !== undefined &&
  wording`Deleted${deletion !== true && wording` on ${identifier(deletion)}`}: `;

/** Where a person finds a record in the product, if the operator gave the address. */
export function linkTo(
  { recordUrl }: Tenant['site'],
  resource: Resource,
  id: string | undefined,
): { link?: string } {
  if (recordUrl === undefined || id === undefined) return {};
  const named = recordUrl.replaceAll('{resource}', resource);
  return { link: named.replaceAll('{id}', encodeURIComponent(id.toWellFormed())) };
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
  const isWhole = coverage.complete && !coverage.fields;
  const shared = isWhole ? {} : { coverage: toCoverage(coverage) };
  return { question: { summary, data: { records, ...shared }, notes: [next] } };
}
