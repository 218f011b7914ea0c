import * as z from 'zod';
import { type RecordedChange, readChanges } from '../src/changes/journal.ts';
import { tenantScale } from '../src/changes/target.ts';
import { type Verification, verify } from '../src/changes/verification.ts';
import { fieldNames } from '../src/changes/writable-fields.ts';
import type { Tenant, ToolCall } from '../src/tenant/tenant.ts';
import {
  maxQuoted,
  quote,
  quoteVerbatim,
  trusted,
  Verbatim,
  VerbatimWording,
  type Wording,
  wording,
} from '../src/text/untrusted-text.ts';
import { logAnswer } from '../src/tool-kit/answers.ts';
import { changeRow } from '../src/tool-kit/change-answers.ts';
import { defineTool } from '../src/tool-kit/define-tool.ts';
import * as schemas from '../src/tool-kit/schemas.ts';
import type { JsonObject } from '../src/values.ts';

/** Each verification takes one or more requests. */
const maxVerifications = 5;

export const listChanges = defineTool({
  name: 'cpq_list_changes',
  title: 'List changes made here',
  description:
    'Changes that this server wrote to opportunities, newest first: what, when, how consent was given, the outcome.',
  toolset: 'changes',
  needs: ['opportunity:read'],
  input: schemas.inOrder(
    z.strictObject({
      since: schemas.day,
      until: schemas.day.describe('YYYY-MM-DD, inclusive'),
      opportunity: z.string().optional().describe('Id or external identifier'),
      size: z.int().min(1).max(100).default(20),
      from: z.int().min(0).default(0),
    }),
    ['since', 'until'],
  ),
  output: schemas.listOutput,
  async run(tenant, { since, until, opportunity, size, from }, call) {
    await tenant.key.require(call);
    const { changes, damaged } = await readChanges(tenant);
    const wanted = changes.filter(
      ({ intent, outcome }) =>
        (since === undefined || intent.at.slice(0, 10) >= since) &&
        (until === undefined || intent.at.slice(0, 10) <= until) &&
        (opportunity === undefined ||
          [intent.externalId, intent.opportunityId, outcome?.opportunityId].includes(opportunity)),
    );
    const shown = wanted.slice(from, from + size);
    const total = wanted.length;
    const log = { read: total, damaged, reason: 'unreadable lines in the journal' };
    return logAnswer(await changeRows(tenant, shown, call), { from, total }, log, {
      summaryOf: (count) =>
        total === 0 ? wording`No changes.` : wording`${count} of ${total} changes, newest first.`,
      notes:
        total === 0
          ? [wording`Only what this server wrote is listed, and only from its own journal.`]
          : [],
    });
  },
});

/** Reads the record again for the newest changes whose outcome is unknown. */
async function changeRows(
  tenant: Tenant,
  changes: readonly RecordedChange[],
  call: ToolCall,
): Promise<JsonObject[]> {
  const open = changes
    .filter((change) => outcomeText(change) === 'cannot_tell')
    .slice(0, maxVerifications);
  const verifications = new Map<RecordedChange, Verification>();
  if (open.length > 0) {
    const { divisor } = await tenantScale(tenant, call).catch(() => ({ divisor: 1 as const }));
    for (const change of open)
      verifications.set(change, await verify(tenant, { ...change.intent, divisor }, call));
  }
  return changes.map((change) => changeSummaryRow(change, verifications.get(change)));
}

/** Without an outcome, the process ended during the write: it may have arrived. */
const outcomeText = ({ outcome }: RecordedChange) => outcome?.outcome ?? 'cannot_tell';

function changeSummaryRow(
  change: RecordedChange,
  verification: Verification | undefined,
): JsonObject {
  const { intent, outcome, revertedBy } = change;
  const fields = intent.changes
    .map(changeRow)
    .map(
      ({ field, from, to }) =>
        new VerbatimWording(wording`${fieldName(field)}: ${clip(from)} → ${clip(to)}`),
    );
  return {
    change_id: intent.id,
    at: intent.at.slice(0, 19),
    what: intent.what,
    opportunity: new Verbatim(intent.name, maxQuoted),
    opportunity_id: outcome?.opportunityId ?? intent.opportunityId,
    outcome: outcomeText(change),
    record_now: verification && verificationTexts[verification.result],
    changes: fields,
    consent: intent.consent,
    client: intent.client,
    caller: intent.caller,
    reverts: intent.reverts,
    reverted_by: revertedBy,
  };
}

const verificationTexts: Readonly<Record<Verification['result'], string>> = {
  applied: 'holds the change',
  partial: 'holds a part of the change',
  unchanged: 'is as before',
  diverged: 'holds other values',
  unreadable: 'cannot be read',
};

/** The journal is a file that anyone may have edited, so a field name is quoted unless it is known. */
const fieldName = (field: string): Wording =>
  fieldNames.includes(field) ? trusted(field) : quote(field);

const clip = (value: number | Verbatim): Wording =>
  typeof value === 'number' ? wording`${value}` : quoteVerbatim(value.text, maxQuoted);
