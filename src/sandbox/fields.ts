import type { Row } from './json.ts';

/** The type of a column; decides how it is filtered, sorted and written as JSON. */
export type ScalarKind = 'id' | 'text' | 'number' | 'date' | 'flag' | 'json';

interface ScalarField {
  kind: ScalarKind;
  name: string;
  column: string;
}
/** A small object made of columns of the same row, such as `discount {type, amount}`. */
interface NestField {
  kind: 'nest';
  name: string;
  fields: ScalarField[];
}
/** A record of another table nested by its id, such as `company {id, name}`. */
export interface RefField {
  kind: 'ref';
  name: string;
  column: string;
  table: string;
  fields: string[];
}
/** Rows of a child table nested as an array, such as `items[]`. */
interface ListField {
  kind: 'list';
  name: string;
  table: string;
  by: string;
  fields: Field[];
}
export type Field = ScalarField | NestField | RefField | ListField;

export function inside(kind: ScalarKind, name: string, column: string): ScalarField {
  return { kind, name, column };
}
const each =
  (kind: ScalarKind) =>
  (...names: string[]): ScalarField[] =>
    names.map((name) => ({ kind, name, column: name }));

export const ids = each('id');
export const texts = each('text');
export const numbers = each('number');
export const dates = each('date');
export const flags = each('flag');
export const jsons = each('json');
export function nest(name: string, ...fields: ScalarField[]): NestField {
  return { kind: 'nest', name, fields };
}
export function ref(name: string, table: string, ...fields: string[]): RefField {
  return { kind: 'ref', name, column: `${name}Id`, table, fields: ['id', ...fields] };
}
export function list(name: string, table: string, by: string, fields: Field[]): ListField {
  return { kind: 'list', name, table, by, fields };
}

/** The columns of the record's own table that a field reads. */
export function columnsOf(field: Field): string[] {
  if (field.kind === 'list') return [];
  if (field.kind === 'nest') return field.fields.map((inner) => inner.column);
  return [field.column];
}

/**
 * Names of the columns that are sent as an explicit JSON null, in the format of the `nulls` column: SQL has one
 * NULL, but a field on the wire can be `null` or absent.
 */
export function explicitNulls(row: Row): string | null {
  const names = Object.keys(row).filter((name) => row[name] === null);
  return names.length > 0 ? `,${names.join(',')},` : null;
}
