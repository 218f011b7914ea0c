import * as z from 'zod';

/** The part of JSON Schema that every host understands. */
export interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  description?: string;
  additionalProperties?: boolean | JsonSchema;
  [keyword: string]: unknown;
}

/**
 * A zod schema as JSON Schema, without what costs tokens and says nothing: `$schema` on each, the bounds
 * of safe integers, the pattern of "any text" for names of fields, and "anything else too" of results.
 *
 * zod's own converter is used because `zod-to-json-schema` knows zod 3 only: for a zod 4 schema it
 * returns an empty one, silently.
 */
export function toJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): JsonSchema {
  return slim(z.toJSONSchema(schema, { io, target: 'draft-2020-12' }) as JsonSchema, io, true);
}

/** Bounds that nobody meets and defaults that say "nothing": checked all the same, but not told. */
function isIdle(keyword: string, value: unknown): boolean {
  if (['minLength', 'maxLength', 'pattern'].includes(keyword)) return true;
  if (keyword === 'maximum') return Number(value) > 1_000;
  return keyword === 'default' && !(typeof value === 'number' && value > 0);
}

function slim(schema: JsonSchema, io: 'input' | 'output', top = false): JsonSchema {
  const slimmed: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$schema' || keyword === 'propertyNames') continue;
    if (value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER) continue;
    if (keyword === 'additionalProperties' && (value !== false || io === 'output')) continue;
    if (io === 'input' && isIdle(keyword, value)) continue;
    slimmed[keyword] = value;
  }
  // What an answer always has is told at the top; below, the names are enough.
  if (io === 'output' && !top) delete slimmed.required;
  if (schema.items) slimmed.items = slim(schema.items, io);
  if (schema.properties) {
    const inner = Object.entries(schema.properties).map(([name, property]) => [
      name,
      slim(property, io),
    ]);
    slimmed.properties = Object.fromEntries(inner);
  }
  return slimmed;
}
