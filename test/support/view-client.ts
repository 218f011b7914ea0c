import type { Client, Result } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { type CallReport, reportOf } from './consent.ts';
import type { Row } from './hosts.ts';

/** What a host that shows views, and has no forms, declares. */
export const showsViews = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

/** What a view gets in `_meta` of the result. */
export interface ViewQuestion {
  secret: string;
  expiresAt: string;
  tool: string;
  arguments: Row;
  question: string;
  proposal: Row & { changes: Row[] };
}

export const questionFor = (result: Result): ViewQuestion | undefined =>
  (result._meta as Record<string, ViewQuestion> | undefined)?.['cpq-mcp/consent'];

/** What a model is shown of a result: everything but `_meta`. */
const shownToModel = ({ _meta, ...shown }: Result): string => JSON.stringify(shown);

/** A call that asks in a view. */
export async function askInView(
  client: Pick<Client, 'callTool'>,
  args: Row,
  name = 'cpq_upsert_opportunity',
): Promise<{ report: CallReport; question: ViewQuestion; shown: string }> {
  const result = await client.callTool({ name, arguments: args });
  const question = questionFor(result);
  if (!question) throw new Error(`no question: ${JSON.stringify(result)}`);
  const shown = shownToModel(result);
  expect(shown).not.toContain(question.secret);
  return { report: reportOf(result), question, shown };
}

/** A click in the view. */
export async function click(
  client: Pick<Client, 'callTool'>,
  { secret, tool, arguments: args }: ViewQuestion,
  answer: 'write' | 'decline' = 'write',
  more: Row = {},
): Promise<CallReport & { next: ViewQuestion | undefined }> {
  const result = await client.callTool({
    name: 'cpq_answer_change',
    arguments: { secret, tool, arguments: args, answer, ...more },
  });
  return { ...reportOf(result), next: questionFor(result) };
}
