import type { Field, RefField } from './fields.ts';
import type { Resource } from './schema.ts';

/**
 * An SQL expression that writes the row `t` as the JSON text of its wire record. A field whose
 * column is NULL is left out, unless the row's `nulls` column names it.
 */
export function recordExpression(resource: Resource): string {
  return objectOf(resource.fields, 't');
}

function objectOf(fields: Field[], row: string): string {
  return objectText(fields.map((field) => [field.name, fieldValue(field, row)]));
}

/** Members may be missing, so each starts with a comma and the first comma is removed. */
function objectText(members: [name: string, sql: string][]): string {
  const texts = members.map(([name, sql]) => `',"${name}":' || ${sql}`);
  return `'{' || substr(concat(${texts.join(', ')}), 2) || '}'`;
}

function fieldValue(field: Field, row: string): string {
  switch (field.kind) {
    case 'list':
      return `'[' || coalesce(${children(field.table, field.by, field.fields, row)}, '') || ']'`;
    case 'nest': {
      const empty = field.fields.map(({ column }) => `${row}.${column} is null`).join(' and ');
      return `iif(${empty}, null, ${objectOf(field.fields, row)})`;
    }
    case 'ref':
      return orNull(reference(field, row), row, field.column);
    case 'json':
      return orNull(`${row}.${field.column}`, row, field.column);
    case 'flag':
      return orNull(flagText(`${row}.${field.column}`), row, field.column);
    default:
      return orNull(quoted(`${row}.${field.column}`), row, field.column);
  }
}

/** A dangling reference still has its id. */
function reference({ table, column, fields }: RefField, row: string): string {
  const id = `${row}.${column}`;
  const found = objectText(fields.map((name) => [name, quoted(`r.${name}`)]));
  return `coalesce((select ${found} from ${table} r where r.tenant = ${row}.tenant and r.id = ${id}),
    '{"id":' || ${quoted(id)} || '}')`;
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
