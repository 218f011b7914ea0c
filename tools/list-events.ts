import * as z from 'zod';
import { type EventPage, queryEvents } from '../src/events/list.ts';
import { normaliseEventName, pairFrom, type Subject, subjects } from '../src/events/names.ts';
import { utcDay } from '../src/figures/days.ts';
import { trusted, type Wording, wording } from '../src/text/untrusted-text.ts';
import { logAnswer, toIsoSeconds } from '../src/tool-kit/answers.ts';
import { defineTool, ownHints } from '../src/tool-kit/define-tool.ts';
import * as schemas from '../src/tool-kit/schemas.ts';

const dayMs = 86_400_000;

/** Checked with `refine`, which keeps the limits out of the schema and saves tokens in tools/list. */
const size = z
  .int()
  .default(20)
  .refine((rows) => rows >= 1 && rows <= 100, 'must be from 1 to 100');
const from = z
  .int()
  .default(0)
  .refine((rows) => rows >= 0, 'must not be less than 0');

export const listEvents = defineTool({
  name: 'cpq_list_events',
  title: 'List events received',
  description: 'Webhooks received, newest first, and what changed. Orders are only here.',
  toolset: 'events',
  needs: [],
  hints: ownHints,
  input: schemas.inOrder(
    z.strictObject({
      subject: z.enum(subjects).optional(),
      event: z.string().max(60).optional().describe('e.g. ordered'),
      since: schemas.day,
      until: schemas.day.describe('inclusive'),
      id: z.string().optional().describe('Record, or several: a|b'),
      size,
      from,
    }),
    ['since', 'until'],
  ),
  output: schemas.listOutput,
  async run(tenant, { subject, event, since, until, id, size, from }, call) {
    await tenant.key.require(call);
    const name = event === undefined ? undefined : normaliseEventName(event);
    const pair = name === undefined ? undefined : pairFrom(name);
    const events = await queryEvents(tenant, {
      subject: subject ?? pair?.subject,
      event: pair?.event ?? name,
      records: id?.split('|'),
      since: since === undefined ? undefined : Date.parse(since),
      until: until === undefined ? undefined : Date.parse(until) + dayMs,
      size,
      from,
    });
    const { total, damaged, withoutContent } = events;
    const rows = events.events.map(({ at, ...one }) => ({ at: toIsoSeconds(at), ...one }));
    const reason = 'some events cannot be read any more';
    const log = { read: total - withoutContent, damaged, reason };
    return logAnswer(rows, { from, total }, log, {
      summaryOf: (count) => eventsSummary(count, total, from),
      notes: eventNotes(events, subject),
    });
  },
});

function eventsSummary(count: number, total: number, from: number): Wording {
  if (total === 0) return wording`No events.`;
  const next = from + count < total && wording` Next: the same call with from ${from + count}.`;
  return wording`${count} of ${total} events, newest first.${next}`;
}

function eventNotes(
  { total, keptSince, hidden }: EventPage,
  subject: Subject | undefined,
): (Wording | false)[] {
  const since = keptSince === undefined ? undefined : utcDay(new Date(keptSince));
  const hiddenSubjects = subject === undefined ? hidden : [];
  return [
    since === undefined
      ? wording`None was received in the last 30 days: the service sends them only where a webhook is set up.`
      : wording`Received since ${trusted(since)}; each is kept for 30 days.`,
    total === 0 && since !== undefined && wording`Try fewer filters.`,
    hiddenSubjects.length > 0 &&
      wording`Without events of ${trusted(hiddenSubjects.join(', '))}: their records may not be read here.`,
  ];
}
