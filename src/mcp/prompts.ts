import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';
import { type Prompt, prompts } from '../../tools/prompts.ts';
import type { Tenant } from '../tenant/tenant.ts';
import { InvalidParams } from './invalid-params.ts';

/** Those whose tools this tenant's grants let anyone use. */
export const offered = ({ grants }: Tenant): readonly Prompt[] =>
  prompts.filter(({ needs }) => needs.every((grant) => grants.has(grant)));

export const listPrompts = (tenant: Tenant): ListPromptsResult => ({
  prompts: offered(tenant).map(({ name, title, description, arguments: all }) => ({
    name,
    title,
    description,
    arguments: all.map(({ name, description, required }) => ({ name, description, required })),
  })),
});

/** @throws InvalidParams for an unknown prompt or a missing argument */
export function getPrompt(
  tenant: Tenant,
  name: string,
  given: Readonly<Record<string, string>> = {},
): GetPromptResult {
  const prompt = offered(tenant).find((one) => one.name === name);
  if (!prompt) throw invalid(`Unknown prompt ${JSON.stringify(name.slice(0, 80))}`);
  const missing = prompt.arguments.filter((it) => it.required && !given[it.name]?.trim());
  if (missing.length > 0) {
    throw invalid(`Missing: ${missing.map((it) => `${it.name} (${it.description})`).join(', ')}`);
  }
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(given) } }],
  };
}

const invalid = (message: string): InvalidParams => new InvalidParams(message);
