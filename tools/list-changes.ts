import * as z from 'zod';
import {
  maxQuoted,
  quote,
  quoteVerbatim,
  trusted,
  Verbatim,
  type Wording,
  wording,
} from '../src/outside-text.ts';
import type { ToolCall } from '../src/tenant/call.ts';
import { fieldNames } from '../src/tenant/changes/fields.ts';
import { type RecordedChange, readChanges } from '../src/tenant/changes/journal.ts';
import { lookNow, type Sight } from '../src/tenant/changes/sight.ts';
import type { Tenant } from '../src/tenant/tenant.ts';
import { changeRow } from './changes.ts';
import { type Answer, coverage, defineTool, page, reads, records, said } from './define.ts';

/** A time of that day is taken for the day. */
const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}/)
  .optional();

/** Each costs a request or more. */
const mostLooks = 5;

export const listChanges = defineTool({
  name: 'cpq_list_changes',
  title: 'List changes made here',
  description:
    'Changes that this server wrote to opportunities, newest first: what, when, how consent was given, what came of it.',
  toolset: 'changes',
  needs: ['opportunity:read'],
  hints: reads,
  input: z.strictObject({
    since: day.describe('YYYY-MM-DD'),
    until: day.describe('YYYY-MM-DD, inclusive'),
    opportunity: z.string().optional().describe('Id or external identifier'),
    size: z.int().min(1).max(100).default(20),
    from: z.int().min(0).default(0),
  }),
  output: z.looseObject({ ...said, records, page, coverage }),
  async run(tenant, { since, until, opportunity, size, from }, call) {
    await tenant.requireKey(call);
    const { changes, damaged } = await readChanges(tenant.journal);
    const wanted = changes.filter(
      ({ sending, done }) =>
        (since === undefined || sending.at.slice(0, 10) >= since.slice(0, 10)) &&
        (until === undefined || sending.at.slice(0, 10) <= until.slice(0, 10)) &&
        (opportunity === undefined ||
          [sending.externalId, sending.opportunityId, done?.opportunityId].includes(opportunity)),
    );
    const shown = wanted.slice(from, from + size);
    const rows = await rowsOf(tenant, shown, call);
    return answer(rows, from, wanted.length, damaged);
  },
});

/** Of those whose outcome nobody knew at the time, the record itself is asked. */
async function rowsOf(
  tenant: Tenant,
  changes: readonly RecordedChange[],
  call: ToolCall,
): Promise<Row[]> {
  const open = changes.filter((change) => outcomeOf(change) === 'cannot_tell').slice(0, mostLooks);
  const sights = new Map<RecordedChange, Sight>();
  for (const change of open) sights.set(change, await lookNow(tenant, change.sending, call));
  return changes.map((change) => row(change, sights.get(change)));
}

/** Without one the process ended in the middle: what was announced may have arrived. */
const outcomeOf = ({ done }: RecordedChange) => done?.outcome ?? 'cannot_tell';

type Row = Record<string, unknown>;

function answer(rows: readonly Row[], from: number, total: number, damaged: number): Answer {
  const keep = (count: number): Answer => {
    const next = from + count < total ? { next: from + count } : {};
    const read = { complete: damaged === 0, read: total, total: total + damaged };
    const coverage = { ...read, asOf: `${new Date().toISOString().slice(0, 19)}Z` };
    return {
      summary:
        total === 0 ? wording`No changes.` : wording`${count} of ${total} changes, newest first.`,
      data: {
        records: rows.slice(0, count),
        page: { shown: count, from, total, ...next },
        coverage:
          damaged === 0 ? coverage : { ...coverage, reason: 'unreadable lines in the journal' },
      },
      notes:
        total === 0
          ? [wording`Only what this server wrote is listed, and only from its own journal.`]
          : [],
      rows: { count, keep },
    };
  };
  return keep(rows.length);
}

function row(change: RecordedChange, sight: Sight | undefined): Row {
  const { sending, done, revertedBy } = change;
  const fields = sending.changes
    .map(changeRow)
    .map(({ field, from, to }) => new Verbatim(`${fieldName(field)}: ${clip(from)} → ${clip(to)}`));
  return {
    change_id: sending.id,
    at: sending.at.slice(0, 19),
    what: sending.what,
    opportunity: new Verbatim(sending.name, maxQuoted),
    opportunity_id: done?.opportunityId ?? sending.opportunityId,
    outcome: outcomeOf(change),
    record_now: sight && inWords[sight.seen],
    changes: fields,
    consent: sending.consent,
    client: sending.client,
    caller: sending.caller,
    reverts: sending.reverts,
    reverted_by: revertedBy,
  };
}

const inWords: Readonly<Record<Sight['seen'], string>> = {
  arrived: 'holds what was meant',
  partly: 'holds a part of it',
  'as before': 'is as before',
  otherwise: 'holds something else',
  unreadable: 'cannot be read',
};

/** The journal is a file: somebody may have edited it. */
const fieldName = (field: string): Wording =>
  fieldNames.includes(field) ? trusted(field) : quote(field);

const clip = (value: number | Verbatim): Wording =>
  typeof value === 'number' ? wording`${value}` : quoteVerbatim(value.text, maxQuoted);
