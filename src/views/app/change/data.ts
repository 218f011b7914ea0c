/** What the results of the tools say about a change: the question, or what happened. */
import type { ChangeOutcome } from '../../../changes/consent.ts';
import { writableFields } from '../../../changes/writable-fields.ts';
import { isObject } from '../../../values.ts';
import { type Arguments, type ToolResult, textOf } from '../shell/bridge.ts';

/** A question that a person answers here. Its texts are those of the host's form. */
export interface Question {
  /** Sent back with the answer; in nothing else that leaves the view. */
  secret: string;
  expiresAt: string;
  /** The call that is asked about. */
  tool: string;
  arguments: Arguments;
  /** The whole question as text. */
  question: string;
  proposal?: Proposal;
}

export interface Proposal {
  what: 'create' | 'change' | 'revert';
  opportunity: string;
  company?: string;
  externalId: string;
  host: string;
  changes: ProposedChange[];
  remarks: string[];
  closing: string;
}

interface ProposedChange {
  field: string;
  label: string;
  from?: string;
  to: string;
  /** As they are stored, where they are texts. */
  fromText?: string;
  toText?: string;
  /** Says that the values look the same. */
  differs?: string;
}

type Value = string | number;

interface ChangeAnswer {
  outcome?: ChangeOutcome | LocalOutcome | undefined;
  summary?: string;
  notes?: string[];
  changes?: { field: string; from: Value; to: Value }[];
  /** Fields that are not stored as agreed. */
  differs?: { field: string; intended: Value; stored: Value }[];
  /** The whole question, for the assistant to show. */
  preview?: string[];
  /** With it the assistant writes what the person agreed to. */
  confirm?: string;
  /** The record could not be read back. */
  unchecked?: boolean;
}

/** `lost`: the host returned no answer. `stale`: the question was too old when it was shown. */
type LocalOutcome = 'expired' | 'stale' | 'lost' | 'not_sent' | 'unreadable';

export interface ChangeData {
  question?: Question | undefined;
  answer: ChangeAnswer;
  /** What the server said, for hosts that pass on only the text. */
  text: string;
  /** What was agreed to, for the answer to it. */
  agreed?: Proposal | undefined;
}

const metaKey = 'cpq-mcp/consent';

/** @param agreed the difference that the result answers */
export function changeOf(result: ToolResult, agreed?: Proposal): ChangeData {
  const text = textOf(result);
  const answer: ChangeAnswer = result.structuredContent ?? { summary: text };
  const outcome = answer.outcome ?? outcomeIn(text);
  return { question: questionIn(result), answer: { ...answer, outcome }, text, agreed };
}

/** The server lets no other text begin a line like this. An error says itself if nothing was written. */
function outcomeIn(text: string): ChangeAnswer['outcome'] {
  const [, outcome] = /^outcome: (\w+)$/m.exec(text) ?? [];
  if (outcome !== undefined) return outcome as ChangeOutcome;
  return text.startsWith('Nothing was written.') ? 'not_written' : 'unreadable';
}

function questionIn({ _meta }: ToolResult): Question | undefined {
  const asked = _meta?.[metaKey];
  if (!isObject(asked)) return undefined;
  const { secret, expiresAt, question } = asked;
  const isWhole = [secret, expiresAt, question].every((it) => typeof it === 'string');
  const isDated = !Number.isNaN(Date.parse(String(expiresAt)));
  return isWhole && isDated ? (asked as unknown as Question) : undefined;
}

/** The person was to decide here, and the host does not pass on what that takes. */
export const isUndecidable = ({ answer, text }: ChangeData): boolean =>
  answer.outcome === 'not_asked' &&
  (answer.preview !== undefined || /^preview:/m.test(text)) &&
  answer.confirm === undefined &&
  !/^confirm:/m.test(text);

export const hasExpired = ({ expiresAt }: Question): boolean => Date.parse(expiresAt) <= Date.now();

interface Ending {
  title: string;
  tone: 'good' | 'warning' | 'danger' | 'plain';
  badge: string;
}

const untouched = (badge: string): Ending => ({
  title: 'Nothing was written',
  tone: 'plain',
  badge,
});
const unknown: Ending = {
  title: 'It is not known whether it was written',
  tone: 'danger',
  badge: 'Unknown',
};

const endings: Readonly<Record<ChangeOutcome | LocalOutcome, Ending>> = {
  written: { title: 'Written', tone: 'good', badge: 'Verified' },
  not_written: { title: 'Nothing was written', tone: 'danger', badge: 'Failed' },
  cannot_tell: unknown,
  lost: unknown,
  unreadable: unknown,
  no_change: untouched('Already so'),
  declined: untouched('Declined'),
  cancelled: untouched('Closed'),
  not_asked: untouched('Not asked'),
  moved: untouched('Changed meanwhile'),
  refused: { title: 'This answer does not count', tone: 'plain', badge: 'Refused' },
  not_sent: untouched('Declined'),
  expired: untouched('Expired'),
  stale: { title: 'This question can no longer be answered', tone: 'plain', badge: 'Expired' },
};

/** How a change ended, in a few words. */
export function endingOf({
  outcome = 'unreadable',
  differs = [],
  unchecked,
}: ChangeAnswer): Ending {
  if (outcome !== 'written') return endings[outcome] ?? unknown;
  if (differs.length > 0)
    return { title: 'Written, but not as agreed', tone: 'danger', badge: 'Stored differently' };
  return unchecked
    ? { title: 'Written', tone: 'warning', badge: 'Not read back' }
    : endings.written;
}

/** A row of a table. */
export interface DifferenceRow {
  label: string;
  before?: string | undefined;
  after: string;
  remark?: string | undefined;
  /** The texts are as they are stored; others are on one line, with signs for line breaks. */
  isStored?: boolean;
}

export interface DifferenceTable {
  title: string;
  /** Over the values before and after. */
  columns: readonly [string, string];
  rows: DifferenceRow[];
}

/** The fields of a question; texts are as they are stored. What is new has no values before. */
export const proposedRows = ({ what, changes }: Proposal): DifferenceRow[] =>
  changes.map(({ label, from, fromText, to, toText, differs }) => ({
    label,
    before: what === 'create' ? undefined : quoted(fromText, from),
    after: quoted(toText, to),
    remark: differs,
    isStored: toText !== undefined,
  }));

const quoted = <Other>(text: string | undefined, other: Other): string | Other =>
  text === undefined ? other : `“${text}”`;

/** The fields of an answer; first those that are not stored as agreed. */
export function answeredTables({ answer, agreed }: ChangeData): DifferenceTable[] {
  const { outcome, changes = [], differs = [], unchecked } = answer;
  const isWritten = outcome === 'written';
  const wrong = differs.map(({ field, intended, stored }) => ({
    label: labelOf(field),
    before: valueText(field, intended),
    after: valueText(field, stored),
    remark: changes.some((it) => it.field === field)
      ? 'Stored differently.'
      : 'Changed without being asked for.',
  }));
  const isOther = ({ field }: { field: string }) => !differs.some((it) => it.field === field);
  // In the words of the question, if the answer is about the same difference.
  const rows =
    agreed && outcome !== 'moved'
      ? proposedRows({ ...agreed, changes: agreed.changes.filter(isOther) })
      : changes.filter(isOther).map(({ field, from, to }) => ({
          label: labelOf(field),
          before: valueText(field, from),
          after: valueText(field, to),
        }));
  const after = isWritten ? (unchecked ? 'Sent' : 'Stored') : 'Would be';
  const tables: DifferenceTable[] = [
    { title: 'Not as agreed', columns: ['Should be', 'Stored'], rows: wrong },
    {
      title: wrong.length > 0 ? 'As agreed' : isWritten ? 'What was written' : 'What was asked for',
      columns: [isWritten ? 'Before' : 'Is', after],
      rows,
    },
  ];
  return tables.filter((table) => table.rows.length > 0);
}

const fieldOf = (field: string) => writableFields.find(({ name }) => name === field);

const labelOf = (field: string): string => fieldOf(field)?.label ?? field;

/** Numbers as the question writes them, whose reader's locale is not known either. */
function valueText(field: string, value: Value): string {
  if (typeof value !== 'number') return value;
  const kind = fieldOf(field)?.kind;
  if (kind === 'share') return `${Math.round(value * 1e6) / 1e4} %`;
  const minimumFractionDigits = kind === 'money' ? 2 : 0;
  return value.toLocaleString('en-US', { minimumFractionDigits, maximumFractionDigits: 20 });
}

/** A part of a text, which runs in its own direction. */
export interface Part {
  text: string;
  /** The other text has something else here, or nothing. */
  isChanged?: boolean;
}

/** A text in parts: as it differs from another long text, or else as the isolates of the question divide it. */
export function partsOf(text: string, other = '', isStored = false): Part[] {
  const parts = text.split(/\u2068([^\u2068\u2069]*)\u2069/);
  const all = differingParts(text, other) ?? parts.map((part): Part => ({ text: part }));
  return (
    all
      .filter((part) => part.text !== '')
      // The question is on one line; its signs for line breaks stay, and break the line here.
      .map((part) => (isStored ? part : { ...part, text: part.text.replaceAll('⏎ ', '⏎\n') }))
  );
}

/** In texts of fewer words a difference is seen without a mark. */
const minWords = 12;

/** What two texts have alike at their beginnings and ends, and what differs between. Notes follow the quoted text. */
function differingParts(text: string, other: string): Part[] | undefined {
  const [words = [], others = []] = [text, other].map((it) =>
    it.replace(/(?<=”) \([^”]*\)$/, '').split(/(?<=[ \n])/),
  );
  const most = Math.min(words.length, others.length);
  // Parts of a text from right to left would stand in the wrong order.
  if (most < minWords || /\u2068|\p{Script=Hebrew}|\p{Script=Arabic}/u.test(text + other))
    return undefined;
  let start = 0;
  while (start < most && words[start] === others[start]) start += 1;
  let end = 0;
  while (end < most - start && words.at(-1 - end) === others.at(-1 - end)) end += 1;
  const before = words.slice(0, start).join('');
  const changed = words.slice(start, words.length - end).join('');
  const after = text.slice(before.length + changed.length);
  return start + end === 0
    ? undefined
    : [{ text: before }, { text: changed, isChanged: true }, { text: after }];
}
