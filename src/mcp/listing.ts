import type { Tool as ListedTool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { catalog } from '../../tools/catalog.ts';
import type { Grant } from '../tenant/grants.ts';
import type { AnyTool, Toolset } from '../tool-kit/define-tool.ts';
import { viewMeta } from './views.ts';

/** The subset of JSON Schema that every host supports. */
export interface JsonSchema extends z.core.JSONSchema.BaseSchema {
  type?: z.core.JSONSchema.SchemaType;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
}

type ObjectSchema = JsonSchema & ListedTool['inputSchema'];

/**
 * Converts a zod schema to JSON Schema without parts that only cost tokens: `$schema`, safe-integer bounds,
 * patterns of property names, and `additionalProperties` of results.
 *
 * zod's own converter is used because `zod-to-json-schema` knows zod 3 only: for a zod 4 schema it
 * returns an empty one, silently.
 */
export function toJsonSchema(schema: z.ZodObject, io: Io): ObjectSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema, path }) {
      for (const [keyword, value] of Object.entries(jsonSchema))
        if (isRedundant(keyword, value, io)) delete jsonSchema[keyword];
      // `required` is listed at the top level only.
      if (io === 'output' && path.length > 0) delete jsonSchema.required;
    },
  });
  return json as ObjectSchema;
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

/** A tool without its implementation. */
export interface Listing {
  toolset: Toolset;
  needs: readonly Grant[];
  view: AnyTool['view'];
  definition: ListedTool & { inputSchema: ObjectSchema };
}

function toListing({ toolset, needs, view, ...tool }: AnyTool): Listing {
  const { name, title, description, hints, forView } = tool;
  const inputSchema = toJsonSchema(tool.input, 'input');
  const outputSchema = toJsonSchema(tool.output, 'output');
  const _meta = view && viewMeta(view, forView);
  const definition = {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations: { ...hints },
  };
  return { toolset, needs, view, definition: { ...definition, ...(_meta && { _meta }) } };
}

/** The build replaces this module by its value, so that listing tools loads neither the tools nor zod. */
export const listings: readonly Listing[] = catalog.map(toListing);
