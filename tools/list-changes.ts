import * as z from 'zod';
import { type RecordedChange, readChanges } from '../src/tenant/changes/journal.ts';
import { changeRow } from './changes.ts';
import { type Answer, coverage, defineTool, page, reads, records, said } from './define.ts';

const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}/)
  .optional();

export const listChanges = defineTool({
  name: 'cpq_list_changes',
  title: 'List changes made here',
  description:
    'Changes that this server wrote to opportunities, newest first: what, when, how consent was given, what came of it.',
  toolset: 'changes',
  needs: ['opportunity:read'],
  hints: { ...reads, openWorldHint: false },
  input: z.strictObject({
    since: day.describe('YYYY-MM-DD'),
    until: day.describe('YYYY-MM-DD, inclusive'),
    opportunity: z.string().optional().describe('Id or external identifier'),
    size: z.int().min(1).max(100).default(20),
    from: z.int().min(0).default(0),
  }),
  output: z.looseObject({ ...said, records, page, coverage }),
  async run(tenant, { since, until, opportunity, size, from }) {
    const { changes, damaged } = await readChanges(tenant.journal);
    const wanted = changes.filter(
      ({ sending, done }) =>
        (since === undefined || sending.at >= since) &&
        (until === undefined || sending.at.slice(0, 10) <= until.slice(0, 10)) &&
        (opportunity === undefined ||
          [sending.externalId, sending.opportunityId, done?.opportunityId].includes(opportunity)),
    );
    return answer(wanted, from, size, damaged);
  },
});

function answer(changes: RecordedChange[], from: number, size: number, damaged: number): Answer {
  const rows = changes.slice(from, from + size).map(row);
  const total = changes.length;
  const keep = (count: number): Answer => {
    const next = from + count < total ? { next: from + count } : {};
    const read = { complete: damaged === 0, read: total, total: total + damaged };
    const coverage = { ...read, asOf: `${new Date().toISOString().slice(0, 19)}Z` };
    return {
      summary: total === 0 ? 'No changes.' : `${count} of ${total} changes, newest first.`,
      data: {
        records: rows.slice(0, count),
        page: { shown: count, from, total, ...next },
        coverage:
          damaged === 0 ? coverage : { ...coverage, reason: 'unreadable lines in the journal' },
      },
      notes:
        total === 0
          ? ['Only what this server wrote is listed, and only from its own journal.']
          : [],
      rows: { count, keep },
    };
  };
  return keep(rows.length);
}

function row({ sending, done, revertedBy }: RecordedChange): Record<string, unknown> {
  const fields = sending.changes
    .map(changeRow)
    .map(({ field, from, to }) => `${field}: ${clip(from)} → ${clip(to)}`);
  return {
    change_id: sending.id,
    at: sending.at.slice(0, 19),
    what: sending.what,
    opportunity: sending.name,
    opportunity_id: done?.opportunityId ?? sending.opportunityId,
    // The process ended in the middle: what was announced may have arrived.
    outcome: done?.outcome ?? 'cannot_tell',
    changes: fields,
    consent: sending.consent,
    client: sending.client,
    reverts: sending.reverts,
    reverted_by: revertedBy,
  };
}

const clip = (value: unknown): string => {
  const text = String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};
