import * as z from 'zod';
import type { ChangeCall, Question } from '../changes/consent.ts';
import type { Grant } from '../tenant/grants.ts';
import type { Tenant } from '../tenant/tenant.ts';
import type { Wording } from '../text/untrusted-text.ts';
import { type Toolset, toolsets } from './toolsets.ts';

export { type Toolset, toolsets };

/** All four are always given: a host assumes the worst of a missing hint. */
const readOnlyHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};
type Hints = typeof readOnlyHints;
/** Of what only this server has. */
export const ownHints: Hints = { ...readOnlyHints, openWorldHint: false };
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

const answerFields = { summary: z.string(), notes: z.array(z.string()).optional() };
