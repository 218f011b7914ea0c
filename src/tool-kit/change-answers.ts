import * as z from 'zod';
import { type ChangeOutcome, changeOutcomes, type Question } from '../changes/consent.ts';
import type { Decision } from '../changes/decide.ts';
import type { WriteResult } from '../changes/execute.ts';
import {
  changedCustomFields,
  customField,
  type FieldChange,
  shownValue,
} from '../changes/fields.ts';
import type { ChangePlan } from '../changes/plan.ts';
import { outcomeOf, outcomeWord } from '../figures/outcome.ts';
import { concise } from '../lists/concise.ts';
import type { Opportunity } from '../service/records/records.ts';
import {
  identifier,
  join,
  maxQuoted,
  quote,
  trusted,
  Verbatim,
  VerbatimWording,
  type Wording,
  wording,
} from '../text/untrusted-text.ts';
import type { Answer } from './define-tool.ts';
import { records } from './schemas.ts';

/** Output of a tool that may write: the outcome, and the changes it was about. */
export const changeOutput = {
  outcome: z.enum(changeOutcomes),
  changes: records,
  change_id: z.string().optional(),
  confirm: z.string().optional(),
};

/** One changed field as a row: names rather than ids where known, and only the custom fields that differ. */
export function changeRow({ field, kind, from, to }: FieldChange) {
  if (kind !== 'custom') return { field, from: shownValue(kind, from), to: shownValue(kind, to) };
  const names = changedCustomFields(from, to);
  const customValues = (custom: unknown) =>
    Object.fromEntries(names.map((name) => [name, customField(custom, name) ?? '']));
  const shown = (custom: unknown) => shownValue(kind, customValues(custom));
  return { field, from: shown(from), to: shown(to) };
}

type FieldChangeRow = ReturnType<typeof changeRow>;

/** A decision, worded so that it cannot be mistaken for another one. */
export function decisionAnswer(decision: Decision): Answer {
  const { plan, outcome } = decision;
  const about = describeTarget(plan);
  const data = { outcome, changes: plan.changes.map(changeRow) };
  const told = (summary: Wording, ...notes: Wording[]): Answer => ({ summary, data, notes });
  switch (outcome) {
    case 'no_change':
      return told(
        Object.keys(plan.requested).length === 0
          ? wording`No field to change was given (null does not empty one): nothing was written to ${about}.`
          : wording`No change: ${about} already is as asked. Nothing was written.`,
      );
    case 'declined':
      return told(wording`The person did not agree. Nothing was written to ${about}.`);
    case 'cancelled':
      return told(wording`The person closed the question. Nothing was written to ${about}.`);
    case 'moved': {
      const { question } = decision;
      const note = question
        ? wording`The person is asked about it in the view.`
        : wording`Make the same call again, without confirm, to ask the person about the difference as it is now.`;
      const summary = wording`Nothing was written: ${about} is not as it was when the person agreed. The difference now is below.`;
      return { ...told(summary, note), question };
    }
    case 'refused':
      return told(
        wording`Nothing was written to ${about}: the consent does not count, because ${decision.why}.`,
        wording`Make the same call again, without confirm, to ask the person again.`,
      );
    case 'not_asked':
      return decision.question?.how === 'asked'
        ? { ...told(wording`A person is asked.`), question: decision.question }
        : notAskedAnswer(about, data, decision);
    default:
      return resultAnswer(about, data, decision);
  }
}

const describeTarget = ({ target, opportunity, externalId }: ChangePlan): Wording =>
  wording`${target.present ? 'opportunity' : 'new opportunity'} ${quote(opportunity)} (external identifier ${identifier(externalId)})`;

type ChangeData = { outcome: ChangeOutcome; changes: FieldChangeRow[] };

function notAskedAnswer(
  about: Wording,
  data: ChangeData,
  { question, why }: { question?: Question; why: Wording },
): Answer {
  const isView = question?.how === 'view';
  const summary = isView
    ? wording`Nothing was written to ${about} yet: a person has to agree in the view.`
    : wording`Nothing was written to ${about}${question !== undefined && ' yet'}: nobody was asked, because ${why}.`;
  if (!question) return { summary, data };
  const preview = question.message.split('\n').map((line) => new VerbatimWording(trusted(line)));
  const shown = { ...data, changes: data.changes.map(inShort), preview };
  const asked = isView ? shown : { ...shown, confirm: question.seal };
  const notes = [isView ? viewNote : tokenNote];
  return { summary, data: asked, uncut: true, question, notes };
}

const viewNote = wording`The person decides in the view that this host shows with this answer, within ten minutes. You cannot decide it, and calling again only asks again. cpq_list_changes says what was written.`;

const tokenNote = wording`Show the person the preview. Only if they agree, make the same call again with confirm set to the token; it is good for ten minutes, once, and for exactly this.`;

/** Shortens the values: the preview next to them has them whole. */
const inShort = ({ field, from, to }: FieldChangeRow): FieldChangeRow => {
  const short = (value: number | Verbatim) =>
    value instanceof Verbatim ? value.cutTo(maxQuoted) : value;
  return { field, from: short(from), to: short(to) };
};

type Written = WriteResult & { plan: ChangePlan };

function resultAnswer(about: Wording, data: ChangeData, result: Written): Answer {
  const { changeId, record } = result;
  const differs = result.differs.map(({ field, kind, intended, stored }) => ({
    field,
    intended: shownValue(kind, intended),
    stored: shownValue(kind, stored),
  }));
  return {
    summary: resultSummary(about, result),
    data: {
      ...data,
      change_id: changeId,
      ...(record ? { opportunity: verbatim(concise('opportunity', record)) } : {}),
      ...(differs.length > 0 ? { differs } : {}),
      ...(result.unchecked ? { unchecked: true } : {}),
    },
    notes: resultNotes(result),
  };
}

/** Marks every text of a record to be shown exactly as stored. */
const verbatim = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [
      name,
      typeof value === 'string' ? new Verbatim(value) : value,
    ]),
  );

const resultNotes = ({ outcome, differs, unchecked, unrecorded }: WriteResult) => [
  differs.length > 0 &&
    wording`The service stored some fields differently than intended: see differs, and tell the person.`,
  unchecked &&
    wording`The service confirmed the write, but the record could not be read back to compare: read it in a minute.`,
  unrecorded &&
    wording`The outcome of this change could not be recorded in the journal: tell the operator of this server.`,
  outcome === 'cannot_tell' &&
    wording`Read the opportunity again in a minute before doing anything else; cpq_list_changes also says how it looks then.`,
];

function resultSummary(
  about: Wording,
  { plan, outcome, differs, record, reason = wording`` }: Written,
): Wording {
  if (outcome === 'not_written') return wording`Not written: ${about}, because ${reason}.`;
  if (outcome === 'cannot_tell')
    return wording`It is not known whether ${about} was written: ${reason}.`;
  const reversal =
    plan.target.present !== undefined && ' It can be reverted with cpq_revert_change.';
  if (differs.length === 0)
    return wording`Written: ${about}${newOutcome(plan.target.present?.record, record)}.${reversal}`;
  return wording`Written, but not as agreed: ${describeDifferences(differs)}. It was the ${about}.${reversal}`;
}

/** What a new stage made of the deal: nobody has to read it from the stage's name. */
function newOutcome(
  before: Opportunity | undefined,
  record: Opportunity | undefined,
): Wording | false {
  const outcome = record && outcomeOf(record);
  if (!before || outcome === undefined || outcome === outcomeOf(before)) return false;
  return wording`, which is now ${outcomeWord(outcome)}`;
}

const maxNamedFields = 5;

/** Unrequested changes first: nobody expects them. */
function describeDifferences(differs: WriteResult['differs']): Wording {
  const parts = [
    { fields: differs.filter(({ asked }) => !asked), what: 'changed without being asked for' },
    { fields: differs.filter(({ asked }) => asked), what: 'stored differently' },
  ].filter(({ fields }) => fields.length > 0);
  return join(
    parts.map(({ fields, what }) => {
      const names = fields.slice(0, maxNamedFields).map(({ field }) => identifier(field));
      const others = fields.length - names.length;
      return wording`${trusted(what)}: ${join([...names, others > 0 && wording`${others} more`], ', ')}`;
    }),
    '; ',
  );
}
