import type { Field } from './fields.ts';
import type { Resource } from './schema.ts';

/**
 * An SQL expression that writes the row `t` as the JSON text of its wire record. A field whose
 * column is NULL is left out, unless the row's `nulls` column names it.
 */
export function recordExpression(resource: Resource): string {
  return objectOf(resource.fields, 't');
}

function objectOf(fields: Field[], row: string): string {
  const [first, ...rest] = fields.map((field) => ({
    name: field.name,
    sql: fieldValue(field, row),
  }));
  if (!first) return "'{}'";
  const members = rest.map(({ name, sql }) => `',"${name}":' || ${sql}`);
  return `concat('{"${first.name}":' || ${[first.sql, ...members].join(', ')}, '}')`;
}

function fieldValue(field: Field, row: string): string {
  switch (field.kind) {
    case 'list':
      return `'[' || coalesce(${children(field.table, field.by, field.fields, row)}, '') || ']'`;
    case 'nest': {
      const empty = field.fields.map(({ column }) => `${row}.${column} is null`).join(' and ');
      return `iif(${empty}, null, ${nestedColumns(field.fields, row)})`;
    }
    case 'ref':
      return reference(field.table, field.fields, `${row}.${field.column}`, row, field.column);
    case 'json':
      return orNull(`${row}.${field.column}`, row, field.column);
    case 'flag':
      return orNull(flagText(`${row}.${field.column}`), row, field.column);
    default:
      return orNull(quoted(`${row}.${field.column}`), row, field.column);
  }
}

/** Members may be missing, so each starts with a comma and the first comma is removed. */
function nestedColumns(fields: { name: string; column: string }[], row: string): string {
  const members = fields.map(
    ({ name, column }) => `',"${name}":' || ${quoted(`${row}.${column}`)}`,
  );
  return `'{' || substr(concat(${members.join(', ')}), 2) || '}'`;
}

function reference(
  table: string,
  names: string[],
  id: string,
  row: string,
  column: string,
): string {
  const [first, ...rest] = names.map((name) => ({ name, sql: quoted(`r.${name}`) }));
  const members = rest.map(({ name, sql }) => `, ',"${name}":' || ${sql}`).join('');
  const found = `select concat('{"id":' || ${first?.sql}${members}, '}') from ${table} r
    where r.tenant = ${row}.tenant and r.id = ${id}`;
  // A dangling reference still has its id.
  return orNull(`coalesce((${found}), '{"id":' || ${quoted(id)} || '}')`, row, column);
}

function children(table: string, by: string, fields: Field[], row: string): string {
  return `(select group_concat(j) from (select ${objectOf(fields, 'i')} as j from ${table} i
    where i.tenant = ${row}.tenant and i.${by} = ${row}.id order by i.rowid))`;
}

/** JSON text of a value; NULL stays NULL, which json_quote alone would turn into the text `null`. */
function quoted(sql: string): string {
  return `nullif(json_quote(${sql}), 'null')`;
}

function flagText(sql: string): string {
  return `case ${sql} when 1 then 'true' when 0 then 'false' else ${quoted(sql)} end`;
}

function orNull(sql: string, row: string, column: string): string {
  return `coalesce(${sql}, case when instr(${row}.nulls, ',${column},') then 'null' end)`;
}
