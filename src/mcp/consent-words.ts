import type { Proposal } from '../tenant/changes/consent.ts';
import type { FieldChange, FieldValue, Reference } from '../tenant/changes/fields.ts';
import { visible } from './text.ts';

const longestQuote = 160;

/** A proposal in plain words for the person who decides: what changes, from what to what, and what does not. */
export function inWords(proposal: Proposal, host: string): string {
  const { changes, currency } = proposal;
  const lines = changes.map((change) => `• ${changeInWords(change, currency)}`);
  return [heading(proposal, host), ...lines, nothingElse(proposal)].join('\n');
}

function heading({ what, opportunity, company, externalId }: Proposal, host: string): string {
  const at = company === undefined ? '' : ` of ${quoted(company)}`;
  const which = `the opportunity ${quoted(opportunity)}${at} (external identifier ${quoted(externalId)}) at ${host}`;
  if (what === 'create') return `Create ${which}?`;
  return what === 'revert' ? `Take back a change to ${which}?` : `Change ${which}?`;
}

function nothingElse({ what }: Proposal): string {
  const kept = what === 'create' ? '' : 'Every other field stays as it is. ';
  const way = what === 'create' ? 'The API cannot delete it again.' : 'It can be taken back.';
  return `${kept}Nothing is sent to a customer, no quote is touched, nothing is deleted. ${way}`;
}

/** One field, old → new; customer text is quoted and shortened. */
export function changeInWords({ label, kind, from, to }: FieldChange, currency?: string): string {
  if (kind === 'custom') return `${label}: ${customInWords(from, to)}`;
  const show = (value: FieldValue) => valueInWords(kind, value, currency);
  return from === undefined ? `${label}: ${show(to)}` : `${label}: ${show(from)} → ${show(to)}`;
}

function valueInWords(kind: FieldChange['kind'], value: FieldValue, currency?: string): string {
  if (value === undefined) return '(empty)';
  switch (kind) {
    case 'reference':
      return referenceInWords(value as Reference);
    case 'money':
      return `${moneyInWords(value as number)}${currency === undefined ? '' : ` ${currency}`}`;
    case 'share':
      return `${Math.round((value as number) * 10_000) / 100} %`;
    case 'text':
      return quoted(String(value));
    default:
      return String(value);
  }
}

const referenceInWords = ({ id, name }: Reference): string =>
  name === undefined ? id : `${quoted(name)} (${id})`;

/** The same for every reader, because the server does not know theirs: 1,234.50. */
const moneyInWords = (amount: number): string =>
  amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 20 });

function customInWords(from: FieldValue, to: FieldValue): string {
  const before = (from ?? {}) as Record<string, unknown>;
  const after = (to ?? {}) as Record<string, unknown>;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const moved = names.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return moved
    .map((name) => `${quoted(name)} ${plain(before[name])} → ${plain(after[name])}`)
    .join('; ');
}

const plain = (value: unknown): string => {
  if (value === undefined || value === null) return '(empty)';
  return quoted(typeof value === 'string' ? value : JSON.stringify(value));
};

/** A stranger's text in one line, between marks that it cannot close. */
function quoted(text: string): string {
  const line = visible(text).replace(/\s+/g, ' ').replaceAll('“', '"').replaceAll('”', '"').trim();
  if (line.length <= longestQuote) return `“${line}”`;
  return `“${line.slice(0, longestQuote).toWellFormed()}…” (${line.length} characters)`;
}
