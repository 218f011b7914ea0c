export type Cell = string | number | null;
export type SqlRow = Record<string, Cell | undefined>;
export type Rows = SqlRow[];
export type Ask = (sql: string, ...more: Cell[]) => Rows;

/** The beginning of every query: tenant and day as named columns. */
export const given = 'with it(tenant, today) as (values (?, ?))';

/** The day of a date, NULL if it is invalid: SQLite turns 30 February into 2 March. */
export const day = (column: string): string =>
  `iif(date(substr(${column}, 1, 10)) = substr(${column}, 1, 10), substr(${column}, 1, 10), null)`;

export const daysFrom = (from: string, to: string): string =>
  `cast(julianday(${to}) - julianday(${from}) as integer)`;

/** Whether a column is neither NULL nor empty. */
export const isSet = (column: string): string => `coalesce(${column}, '') <> ''`;

/** The currency of a company's record, where it has one. */
export const currency = (column: string): string =>
  `coalesce(nullif(upper(trim(${column})), ''), 'unknown currency')`;

const deletedDeal = isSet('o.deletedAt');

/** The outcome from a column that the service never sends: the tool has to derive it from words. */
export const outcome = `case
  when ${deletedDeal} then 'deleted'
  when o.outcome = 'unknown' then 'closed_unknown'
  else o.outcome end`;

/** The status category of a quote by its status; in a tenant with added edge cases also where the status says nothing. */
export const statusCategory = `case
  when ${isSet('q.deletedAt')} then 'deleted'
  when lower(trim(q.status)) in ('draft', 'sent', 'approved', 'declined', 'expired')
    then lower(trim(q.status))
  when lower(trim(q.status)) in ('accepted', 'signed', 'ordered', 'won') then 'approved'
  when lower(trim(q.status)) in ('rejected', 'lost') then 'declined'
  when ${isSet('trim(q.status)')} then 'other'
  when ${isSet('q.approvedAt')} then 'approved'
  when ${isSet('q.declinedAt')} then 'declined'
  when ${isSet('q.expiredAt')} then 'expired'
  when ${isSet('q.sentAt')} then 'sent'
  else 'other' end`;

/** A term, as a row of a quote or a contract writes it. */
export const term = (column: string): string => `case
  when ${normal(column)} in ('', 'once', 'onetime', 'one time') then 'one-time'
  when ${normal(column)} in ('month', 'months', 'monthly', 'mo') then 'monthly'
  when ${normal(column)} in ('year', 'years', 'yearly', 'annual', 'annually', 'yr') then 'yearly'
  else ${normal(column)} end`;

function normal(column: string): string {
  const blanks = ['_', '/', '-'].reduce(
    (text, mark) => `replace(${text}, '${mark}', ' ')`,
    `lower(coalesce(${column}, ''))`,
  );
  const single = `trim(replace(replace(${blanks}, '   ', ' '), '  ', ' '))`;
  return `iif(${single} like 'per %', substr(${single}, 5), ${single})`;
}

export const text = (row: SqlRow, column: string): string | undefined => {
  const cell = row[column];
  return cell === null || cell === undefined ? undefined : String(cell);
};

/** Some columns of texts. */
export const textsIn = <Column extends string>(row: SqlRow, columns: readonly Column[]) =>
  Object.fromEntries(columns.map((column) => [column, text(row, column)])) as Record<
    Column,
    string | undefined
  >;

/** The name of a contact, from the parts that are set. */
export const contactName = `trim(replace(
  coalesce(firstName, '') || ' ' || coalesce(middleName, '') || ' ' || coalesce(lastName, ''),
  '  ', ' '))`;
