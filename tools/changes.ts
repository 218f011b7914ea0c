import * as z from 'zod';
import { concise } from '../src/briefs/concise.ts';
import type { Carried } from '../src/tenant/changes/carry-out.ts';
import type { Offer } from '../src/tenant/changes/consent.ts';
import type { Decision } from '../src/tenant/changes/decide.ts';
import {
  changedCustom,
  entryOf,
  type FieldChange,
  type FieldValue,
  type Reference,
} from '../src/tenant/changes/fields.ts';
import type { Plan } from '../src/tenant/changes/plan.ts';
import { type Answer, records, said } from './define.ts';

/** What a call that may write answers: what came of it, and the difference it was about. */
export const changeOutput = z.looseObject({
  ...said,
  outcome: z.enum([
    'written',
    'not_written',
    'cannot_tell',
    'no_change',
    'declined',
    'cancelled',
    'not_asked',
    'moved',
    'refused',
  ]),
  changes: records,
  change_id: z.string().optional(),
  confirm: z.string().optional(),
});

/** One field's change as a row: names rather than ids where there are any; custom fields that differ. */
export function changeRow({ field, kind, from, to }: FieldChange): Record<string, unknown> {
  if (kind !== 'custom') return { field, from: shown(from), to: shown(to) };
  const names = changedCustom(from, to);
  const those = (custom: FieldValue) =>
    JSON.stringify(Object.fromEntries(names.map((name) => [name, entryOf(custom, name) ?? ''])));
  return { field, from: those(from), to: those(to) };
}

function shown(value: FieldValue): unknown {
  if (value === undefined) return '(empty)';
  if (typeof value !== 'object') return value;
  if (!('id' in value)) return JSON.stringify(value);
  const { id, name } = value as Reference;
  if (name === undefined) return id;
  return id === '' ? name : `${name} (${id})`;
}

/** What came of a decision, in words that cannot be taken for another outcome. */
export function decisionAnswer(plan: Plan, decision: Decision): Answer {
  const about = aboutOf(plan);
  const changes = plan.changes.map(changeRow);
  switch (decision.outcome) {
    case 'no_change':
      return say(`No change: ${about} already is as asked. Nothing was written.`, 'no_change', []);
    case 'refused_by_person':
      return decision.answer === 'declined'
        ? say(`The person did not agree. Nothing was written to ${about}.`, 'declined', changes)
        : say(
            `The person closed the question. Nothing was written to ${about}.`,
            'cancelled',
            changes,
          );
    case 'not_asked':
      return notAsked(about, changes, decision);
    case 'moved':
      return moved(about, decision.plan);
    case 'invalid_consent':
      return invalid(about, changes, decision.why);
    case 'carried':
      return carriedAnswer(plan, changes, decision.carried);
  }
}

const aboutOf = ({ target, before, changes }: Plan): string => {
  const name = before.name ?? changes.find(({ field }) => field === 'name')?.to ?? '';
  const kind = target.record ? 'opportunity' : 'new opportunity';
  return `${kind} "${String(name)}" (external identifier ${target.externalId})`;
};

type Outcome = z.output<typeof changeOutput>['outcome'];
type Rows = Record<string, unknown>[];

const say = (summary: string, outcome: Outcome, changes: Rows, more: object = {}): Answer => ({
  summary,
  data: { outcome, changes, ...more },
});

function notAsked(
  about: string,
  changes: Rows,
  { offer, why }: { offer?: Offer; why: string },
): Answer {
  const summary = `Nothing was written to ${about}${offer ? ' yet' : ''}: nobody was asked, because ${why}.`;
  if (!offer) return say(summary, 'not_asked', changes);
  const more = { preview: offer.question.split('\n'), confirm: offer.token };
  return {
    ...say(summary, 'not_asked', changes, more),
    notes: [
      'Show the person the preview. Only if they agree, make the same call again with confirm set to the token; it is good for ten minutes, once, and for exactly this.',
    ],
  };
}

const invalid = (about: string, changes: Rows, why: string): Answer => ({
  ...say(
    `Nothing was written to ${about}: the consent does not count, because ${why}.`,
    'refused',
    changes,
  ),
  notes: ['Make the same call again, without confirm, to ask the person anew.'],
});

const moved = (about: string, now: Plan): Answer => ({
  ...say(
    `Nothing was written: ${about} is not as it was when the person agreed. The difference now is below.`,
    'moved',
    now.changes.map(changeRow),
  ),
  notes: [
    'Make the same call again, without confirm, to ask the person about the difference as it is now.',
  ],
});

function carriedAnswer(plan: Plan, changes: Rows, carried: Carried): Answer {
  const { outcome, changeId, record, reason } = carried;
  const differs = carried.differs.map(({ field, meant, stored }) => ({
    field,
    meant: shown(meant),
    stored: shown(stored),
  }));
  const more = {
    change_id: changeId,
    ...(record ? { opportunity: concise('opportunity', record) } : {}),
    ...(differs.length > 0 ? { differs } : {}),
  };
  return {
    ...say(summaryOf(plan, outcome, reason), outcome, changes, more),
    notes: notesOn(carried),
  };
}

function notesOn({ outcome, differs, unchecked, unrecorded }: Carried): string[] {
  const notes: [boolean, string][] = [
    [
      differs.length > 0,
      'The service stored some fields otherwise than was meant: see differs, and tell the person.',
    ],
    [
      unchecked === true,
      'The service confirmed it, but the record could not be read back to compare: read it in a minute.',
    ],
    [
      unrecorded === true,
      'The journal could not take the outcome of this change: tell the person who runs this server.',
    ],
    [
      outcome === 'cannot_tell',
      'Read the opportunity again in a minute before doing anything else; cpq_list_changes also says how it looks then.',
    ],
  ];
  return notes.filter(([applies]) => applies).map(([, note]) => note);
}

function summaryOf(plan: Plan, outcome: Carried['outcome'], reason = ''): string {
  const about = aboutOf(plan);
  if (outcome === 'not_written') return `Not written: ${about}, because ${reason}.`;
  if (outcome === 'cannot_tell')
    return `It cannot be told whether ${about} was written: ${reason}.`;
  const way = plan.target.record ? ' It can be taken back with cpq_revert_change.' : '';
  return `Written: ${about}.${way}`;
}
