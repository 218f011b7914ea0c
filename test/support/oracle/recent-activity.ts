import { byName, compare } from './order.ts';
import { type Ask, contactName, day, given, isSet, outcome, text } from './sql.ts';

export interface Company {
  id: string;
  name: string | undefined;
}

/** By company id, or by name if there is no id. `?3` is the id, `?4` the name. */
export const isOfCompany = `iif(${isSet('r.companyId')}, r.companyId = ?3,
  lower(trim(r.companyName)) = lower(trim(?4)))`;

interface Source {
  table: string;
  where: string;
  name: string;
  /** Time columns with their events; of two on one day the later column wins. */
  events: [column: string, what: string][];
}

const ending = `case ${outcome} when 'won' then 'won' when 'lost' then 'lost' else 'closed' end`;
const sources: readonly Source[] = [
  { table: 'company', where: 'o.id = ?3', name: 'o.name', events: [] },
  {
    table: 'contact',
    where: `not ${isSet('o.deleted')} and ${isOfCompany.replaceAll('r.', 'o.')}`,
    name: contactName,
    events: [],
  },
  {
    table: 'opportunity',
    where: `not ${isSet('o.deletedAt')} and o.companyId = ?3`,
    name: 'o.name',
    events: [
      ['stageUpdatedAt', `'stage changed'`],
      ['closedAt', ending],
    ],
  },
  {
    table: 'quote',
    where: `not ${isSet('o.deletedAt')} and o.companyId = ?3`,
    name: 'coalesce(o.title, o.number)',
    events: [
      ['sentAt', `'sent'`],
      ['approvedAt', `'approved'`],
      ['declinedAt', `'declined'`],
      ['expiredAt', `'expired'`],
    ],
  },
];

/** Events of a kind of record; rank 0, an update, gives way to every other. */
function eventsOf({ table, where, name, events }: Source): string {
  const all = [['updatedAt', `'updated'`], ['createdAt', `'created'`], ...events] as const;
  return all
    .map(
      ([column, what], place) => `select '${table}' as kind, o.id, ${name} as name,
        ${day(`o.${column}`)} as day, ${what} as what, ${place} as place
        from it join ${table} o using (tenant) where ${where}`,
    )
    .join(' union all ');
}

const recentActivitySql = `${given}, event as (${sources.map(eventsOf).join(' union all ')}),
  ranked as (
    select event.*, row_number() over (
      partition by kind, id order by place > 0 desc, day desc, place desc) as nth
    from event, it where day >= date(today, '-30 days') and day <= today and ?3 <> '' and ?4 <> '')
  select kind, id, name, day, what from ranked where nth = 1`;

/** One row for each record: its newest event of the last 30 days, or that it was updated. */
export function recentActivity(
  ask: Ask,
  { id, name }: Company,
  shown: number,
): Record<string, unknown> {
  const [period] = ask(`${given} select date(today, '-30 days') as first, today from it`);
  const rows = ask(recentActivitySql, id, name ?? '').map((row) => ({
    day: String(row.day),
    what: String(row.what),
    kind: String(row.kind),
    id: String(row.id),
    name: text(row, 'name'),
  }));
  rows.sort((one, other) => compare(other.day, one.day) || byName(one, other));
  return {
    from: period?.first,
    to: period?.today,
    shown: Math.min(shown, rows.length),
    total: rows.length,
    rows: rows.slice(0, shown).map(({ name: _, ...reported }) => reported),
  };
}
