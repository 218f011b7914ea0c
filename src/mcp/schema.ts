import * as z from 'zod';

/** The subset of JSON Schema that every host supports. */
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
 * Converts a zod schema to JSON Schema without parts that only cost tokens: `$schema`, safe-integer bounds,
 * patterns of property names, and `additionalProperties` of results.
 *
 * zod's own converter is used because `zod-to-json-schema` knows zod 3 only: for a zod 4 schema it
 * returns an empty one, silently.
 */
export function toJsonSchema(schema: z.ZodObject, io: Io): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema, path }) {
      for (const [keyword, value] of Object.entries(jsonSchema))
        if (isRedundant(keyword, value, io)) delete jsonSchema[keyword];
      // `required` is listed at the top level only.
      if (io === 'output' && path.length > 0) delete jsonSchema.required;
    },
  });
  return json as JsonSchema;
}

type Io = 'input' | 'output';

/** Still validated, but not listed: it costs tokens and does not help to choose an argument. */
function isRedundant(keyword: string, value: unknown, io: Io): boolean {
  switch (keyword) {
    case 'propertyNames':
      return true;
    case 'additionalProperties':
      return value !== false || io === 'output';
    case 'minLength':
    case 'maxLength':
    case 'pattern':
      return io === 'input';
    case 'maximum':
      return Number(value) > 1_000;
    case 'minimum':
      return value === Number.MIN_SAFE_INTEGER || (value === 0 && io === 'input');
    case 'default':
      return !(typeof value === 'number' && value > 0);
    default:
      return false;
  }
}
