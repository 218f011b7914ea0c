// For a model that no address answers for: its tools as it would be given them, one call, and its answers with what they took.
import { appendFile, readFile } from 'node:fs/promises';
import type { Client } from '@modelcontextprotocol/client';
import { callTool, type Played } from './model.ts';

/** What a model reads before it asks. */
export async function toolsAsGiven(client: Client): Promise<string> {
  const { tools } = await client.listTools();
  const each = tools.map(
    ({ name, description, inputSchema }) =>
      `## ${name}\n${description}\nArguments: ${JSON.stringify(inputSchema)}`,
  );
  return [client.getInstructions() ?? '', ...each].join('\n\n');
}

/** A line of the log of calls. */
interface Logged {
  /** Of the question. */
  id: string;
  tool: string;
  arguments: Record<string, unknown>;
  tokens: number;
}

/**
 * Calls a tool, and appends what the call took to the log.
 * @param args of the tool, as JSON
 */
export async function callAndLog(
  client: Client,
  { id, tool, args, log }: { id: string; tool: string; args: string; log: string | undefined },
): Promise<string> {
  const given = JSON.parse(args) as Record<string, unknown>;
  const { text, tokens } = await callTool(client, tool, given);
  const line: Logged = { id, tool, arguments: given, tokens };
  if (log) await appendFile(log, `${JSON.stringify(line)}\n`);
  return text;
}

/**
 * Answers by the id of their question, from one JSON object, with the calls and tokens that the log has of each.
 * @throws Error where the file is no object of texts
 */
export async function readAnswers(file: string, log: string | undefined): Promise<Played[]> {
  const answers = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  const calls = log ? await readLog(log) : undefined;
  return Object.entries(answers).map(([id, answer]) => {
    if (typeof answer !== 'string') throw new Error(`The answer to ${id} is not a text.`);
    const own = calls?.filter((call) => call.id === id);
    if (own === undefined) return { id, answer };
    return {
      id,
      answer,
      calls: own.length,
      tokens: own.reduce((sum, call) => sum + call.tokens, 0),
    };
  });
}

async function readLog(file: string): Promise<Logged[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => JSON.parse(line) as Logged);
}
