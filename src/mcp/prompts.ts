import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';
import { type Prompt, prompts, promptText } from '../tool-kit/prompts.ts';
import { type Access, InvalidParams } from './surface.ts';

/** Prompts whose tools and records the caller may use. */
export const availablePrompts = ({ grants, surface }: Access): readonly Prompt[] =>
  prompts.filter(
    ({ needs, tools }) =>
      needs.every((grant) => grants.has(grant)) && tools.every((name) => surface.byName.has(name)),
  );

export const listPrompts = (access: Access): ListPromptsResult => ({
  prompts: availablePrompts(access).map(({ name, title, description, arguments: given }) => ({
    name,
    title,
    description,
    arguments: given.map(({ completes: _, ...shown }) => shown),
  })),
});

/** @throws InvalidParams for an unknown prompt or a missing argument */
export function getPrompt(
  access: Access,
  name: string,
  given: Readonly<Record<string, string>> = {},
): GetPromptResult {
  const prompt = availablePrompts(access).find((one) => one.name === name);
  if (!prompt) throw new InvalidParams(`Unknown prompt ${JSON.stringify(name.slice(0, 80))}`);
  const missing = prompt.arguments.filter((it) => it.required && !given[it.name]?.trim());
  if (missing.length > 0) {
    throw new InvalidParams(
      `Missing: ${missing.map((it) => `${it.name} (${it.description})`).join(', ')}`,
    );
  }
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: promptText(prompt, given) } }],
  };
}
