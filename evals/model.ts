import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { Client, Tool } from '@modelcontextprotocol/client';
import { dynamicTool, generateText, jsonSchema, type LanguageModel, stepCountIs } from 'ai';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** After that many turns the question is given up. */
const maxTurns = 15;

const howToAnswer =
  'Answer in a few sentences or lines, with the figures and names that were asked for and no others.';

/** An answer to one question and what it took; the form of a transcript's lines, with the question's id. */
export interface Played {
  id: string;
  answer: string;
  /** Calls of tools. */
  calls?: number;
  /** Of the calls' arguments and results (o200k_base): what the tools put into the model's context. */
  tokens?: number;
  milliseconds?: number;
}

/**
 * The model that the environment names.
 * @throws Error where EVAL_MODEL is not set, or neither address nor key of a provider.
 */
export function modelFrom(env: NodeJS.ProcessEnv): LanguageModel {
  const { EVAL_MODEL: model, EVAL_BASE_URL: baseURL, EVAL_API_KEY, ANTHROPIC_API_KEY } = env;
  if (!model) throw new Error('Set EVAL_MODEL to the name of a model.');
  if (baseURL) {
    const apiKey = EVAL_API_KEY ? { apiKey: EVAL_API_KEY } : {};
    return createOpenAICompatible({ name: 'eval', baseURL, ...apiKey })(model);
  }
  const apiKey = EVAL_API_KEY ?? ANTHROPIC_API_KEY;
  if (!apiKey) {
    throw new Error(
      'Set EVAL_BASE_URL to an OpenAI-compatible address, or EVAL_API_KEY to a key of Anthropic.',
    );
  }
  return createAnthropic({ apiKey })(model);
}

/** Asks one question in a conversation of its own; the model sees the server's instructions and tools only. */
export async function play(
  model: LanguageModel,
  client: Client,
  question: { id: string; ask: string },
): Promise<Played> {
  const started = performance.now();
  let calls = 0;
  let tokens = 0;
  const { tools: listed } = await client.listTools();
  const run = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const called = await callTool(client, name, args);
    calls += 1;
    tokens += called.tokens;
    return called.text;
  };
  const { text } = await generateText({
    model,
    system: `${client.getInstructions() ?? ''}\n\n${howToAnswer}`,
    prompt: question.ask,
    tools: Object.fromEntries(listed.map((tool) => [tool.name, callable(tool, run)])),
    stopWhen: stepCountIs(maxTurns),
  });
  const milliseconds = Math.round(performance.now() - started);
  return { id: question.id, answer: text, calls, tokens, milliseconds };
}

/** The text of a tool's answer, and what the call puts into a model's context: arguments and text (o200k_base). */
export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<{ text: string; tokens: number }> {
  const { content } = await client.callTool({ name, arguments: args });
  const text = content.map((part) => ('text' in part ? part.text : '')).join('\n');
  return { text, tokens: countTokens(JSON.stringify(args)) + countTokens(text) };
}

function callable(
  { name, description, inputSchema }: Tool,
  run: (name: string, args: Record<string, unknown>) => Promise<string>,
) {
  return dynamicTool({
    ...(description === undefined ? {} : { description }),
    inputSchema: jsonSchema(inputSchema as Parameters<typeof jsonSchema>[0]),
    execute: (args) => run(name, args as Record<string, unknown>),
  });
}
