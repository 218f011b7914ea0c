import * as z from 'zod';
import type { ToolCall } from '../tenant/call.ts';
import type { Grant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import type { Wording } from '../text/untrusted-text.ts';
import { type Toolset, toolsets } from './toolsets.ts';

export { type Toolset, toolsets };

/** All four, said out loud: hosts take an absent hint for its worst. */
export interface Hints {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export const readOnlyHints: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

/**
 * What a tool answers. `mcp/results` alone makes a protocol result of it: the same facts as text and as
 * `structuredContent`, cut at a row where they would be too long.
 */
export interface Answer {
  /** What this is and what it covers, in a sentence or two; first in both forms. */
  summary: Wording;
  data: Record<string, unknown>;
  /** What to know, or to do next, a sentence each. */
  notes?: readonly Wording[];
  /** Makes the same answer with fewer rows; see `answerWithRows`. */
  rows?: { count: number; keep(count: number): Answer };
  /** A person has to see it whole, so that it is never cut, however long it is. */
  uncut?: boolean;
}

/** A tool as data, and a page of plain work. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  /** `cpq_` + verb + noun, at most 30 characters. */
  readonly name: string;
  readonly title: string;
  /** For a model that has to choose: what it answers, and when another tool is better. */
  readonly description: string;
  readonly toolset: Toolset;
  /** The tool is listed only where all of these are held. */
  readonly needs: readonly Grant[];
  readonly hints: Hints;
  readonly input: Input;
  readonly output: z.ZodObject;
  /** What a host that shows views may show of the answer; it is whole without. */
  readonly view?: 'pipeline' | 'quote' | 'company';
  run(tenant: Tenant, args: z.output<Input>, call: ToolCall): Promise<Answer>;
}

/** A tool whose arguments' type has been checked against its `run`, and may be forgotten now. */
export type AnyTool = Omit<Tool, 'run'> & {
  run(tenant: Tenant, args: Record<string, unknown>, call: ToolCall): Promise<Answer>;
};

export const defineTool = <Input extends z.ZodObject>(tool: Tool<Input>): AnyTool =>
  tool as unknown as AnyTool;

const size = z.int().min(1).max(100).default(20);
const from = z.int().min(0).max(1_000_000).default(0).describe('page.next');
const detail = z.enum(['concise', 'full']).default('concise');
const fields = z.array(z.string()).optional().describe('Only these, e.g. company.name');
const query = z.string().max(500).optional();
const filters = z.string().max(2_000).optional().describe('key:a|b,key2:c');
const sort = z.string().max(200).optional().describe('-field,+field');

/** What every list takes. */
export const listInput = { size, from, detail, fields };
/** What the five search routes take besides. */
export const searchInput = { size, from, query, filters, sort, detail, fields };
export const textSearchInput = { size, from, query, detail, fields };

/** A day of the calendar: 2026-02-30 has the form of a date and is none. */
export const day = z
  .string()
  .refine(isDay, 'must be a date that exists, as YYYY-MM-DD')
  .optional()
  .describe('YYYY-MM-DD');

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const count = z.int();

export const coverage = z.object({
  complete: z.boolean(),
  read: count,
  total: count,
  asOf: z.string(),
  reason: z.string().optional(),
});
export const page = z.object({ shown: count, from: count, total: count, next: count.optional() });
const anyRecord = z.record(z.string(), z.unknown());
export const records = z.array(anyRecord);

/** What comes with every answer. */
export const answerFields = { summary: z.string(), notes: z.array(z.string()).optional() };

/** Loose: a record of the service may carry fields that nobody has seen yet. */
export const listOutput = z.looseObject({ ...answerFields, records, page, coverage });
