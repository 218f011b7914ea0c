/** Any JSON value; `undefined` marks a field that the wire record leaves out. */
export type Json = string | number | boolean | null | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json | undefined };

/** A row to be stored: values by column name. */
export type Row = Record<string, Json | undefined>;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
