import * as z from 'zod';
import type { ChangeCall, Question } from '../changes/consent.ts';
import { dayOf } from '../figures/days.ts';
import type { Grant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import type { Wording } from '../text/untrusted-text.ts';
import { type Toolset, toolsets } from './toolsets.ts';

export { type Toolset, toolsets };

/** All four are always given: a host assumes the worst of a missing hint. */
export const readOnlyHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};
type Hints = typeof readOnlyHints;
export const writingHints: Hints = {
  ...readOnlyHints,
  readOnlyHint: false,
  destructiveHint: true,
};

/**
 * What a tool answers. Only `mcp/results` turns it into a protocol result: the same facts as text and as
 * `structuredContent`, with fewer rows where they would be too long.
 */
export interface Answer {
  /** What the answer is and what it covers, in a sentence or two. Comes first in both forms. */
  summary: Wording;
  data: Record<string, unknown>;
  /** Caveats and next steps, one sentence each. */
  notes?: readonly (Wording | false | undefined)[];
  /** Rows whose currency is unknown, which is said after the notes. */
  unknownCurrencies?: number;
  /** Makes the same answer with fewer rows; see `answerWithRows`. `aim`: the tokens that its rows fill. */
  rows?: { count: number; keep(count: number): Answer; aim?: number | undefined };
  /** What a person is asked: in a form instead of this answer, in a view beside it, or by the assistant. */
  question?: Question | undefined;
  /** Never shortened, because a person has to see all of it. */
  uncut?: boolean;
  /** The text has names and values as the service has them, not in words. */
  asStored?: boolean;
}

/** A tool: its definition as data, and the function that runs it. */
interface Tool<Input extends z.ZodObject = z.ZodObject> {
  /** `cpq_` + verb + noun, at most 30 characters. */
  readonly name: string;
  readonly title: string;
  /** Tells a model what the tool answers, and when another tool is better. */
  readonly description: string;
  readonly toolset: Toolset;
  /** The tool is listed only if the key has all of these grants. */
  readonly needs: readonly Grant[];
  readonly hints: Hints;
  readonly input: Input;
  readonly output: z.ZodObject;
  /** The interactive view of the answer, for hosts that support views. */
  readonly view?: 'pipeline' | 'changes' | 'quote' | 'quotes' | 'company' | 'change';
  /** Only the view calls it; it is listed where the host shows views and another tool with the view is listed. */
  readonly forView?: boolean;
  run(tenant: Tenant, args: z.output<Input>, call: ChangeCall): Promise<Answer>;
}

/** A tool whose argument types are erased: `defineTool` has checked them against `run`. */
export type AnyTool = Omit<Tool, 'run'> & {
  run(tenant: Tenant, args: Record<string, unknown>, call: ChangeCall): Promise<Answer>;
};

/** A tool reads only, unless it has other hints. `output` has the fields of its data. */
type Definition<Input extends z.ZodObject> = Omit<Tool<Input>, 'hints' | 'output'> & {
  readonly hints?: Hints;
  readonly output: z.ZodRawShape;
};

export const defineTool = <Input extends z.ZodObject>(tool: Definition<Input>): AnyTool =>
  ({
    hints: readOnlyHints,
    ...tool,
    // Loose, because briefs have more fields than a schema of few tokens, and the service may add some to records.
    output: z.looseObject({ ...answerFields, ...tool.output }),
  }) as AnyTool;

const size = z.int().min(1).max(100).default(20);
const from = z.int().min(0).max(1_000_000).default(0);
const detail = z.enum(['concise', 'full']).default('concise');
const fields = z.array(z.string()).optional();
const query = z.string().max(500).optional();
const filters = z.string().max(2_000).optional().describe('key:a|b');
const sort = z.string().max(200).optional().describe('-key');

export const listInput = { size, from, detail, fields };
export const searchInput = { size, from, query, filters, sort, detail, fields };
/** Arguments of lists that the service cannot search. */
export const filterInput = { size, from, filters, sort, detail, fields };

/** A name or an id. */
export const nameOfRecord = z.string().trim().min(1).max(200);
/** A name or an id by which records are filtered. */
export const nameFilter = nameOfRecord.optional();

/** An existing calendar day: 2026-02-30 is refused. For arguments whose name, or another one, says how it is written. */
export const plainDay = z
  .string()
  .refine(isDay, 'must be a date that exists, as YYYY-MM-DD')
  .optional();
export const day = plainDay.describe('YYYY-MM-DD');

/** Filters of deals: names as of `nameFilter`, and the expected close date. */
export const dealFilterInput = {
  owner: nameFilter,
  company: nameFilter,
  stage: nameFilter,
  category: nameFilter,
  source: nameFilter,
  currency: nameFilter,
  close_from: plainDay,
  close_to: plainDay,
};

function isDay(text: string): boolean {
  return dayOf(text) === text;
}

/** Two arguments, the first and the last day; without the second the period ends on the day that is given here. */
type Period = readonly [from: string, to: string, defaultEnd?: () => string];

/** Refuses periods whose first day is after the last. */
export const inOrder = <Input extends z.ZodObject>(
  input: Input,
  ...periods: readonly Period[]
): Input =>
  periods.reduce(
    (checked, [from, to, defaultEnd]) =>
      checked.refine((args) => !isAfter(args[from], args[to] ?? defaultEnd?.()), {
        path: [from],
        message: `must not be after ${to}${defaultEnd ? ', which is today unless it is given' : ''}`,
      }),
    input,
  );

const isAfter = (one: unknown, other: unknown): boolean =>
  typeof one === 'string' && typeof other === 'string' && isDay(one) && isDay(other) && one > other;

const count = z.int();

/** Loose, because it can have `fields`. */
export const coverage = z.looseObject({
  complete: z.boolean(),
  read: count,
  total: count,
  asOf: z.string(),
  reason: z.string().optional(),
});
const page = z.object({ shown: count, from: count, total: count, next: count.optional() });
const anyRecord = z.record(z.string(), z.unknown());
export const records = z.array(anyRecord);

const answerFields = { summary: z.string(), notes: z.array(z.string()).optional() };

export const listOutput = { records, page, coverage };
