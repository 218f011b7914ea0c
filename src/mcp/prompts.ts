import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';
import type { Tenant } from '../tenant/tenant.ts';
import { type Prompt, prompts } from '../tool-kit/prompts.ts';
import { InvalidParams } from './invalid-params.ts';

/** Prompts whose tools the tenant's grants allow. */
export const availablePrompts = ({ grants }: Pick<Tenant, 'grants'>): readonly Prompt[] =>
  prompts.filter(({ needs }) => needs.every((grant) => grants.has(grant)));

export const listPrompts = (tenant: Pick<Tenant, 'grants'>): ListPromptsResult => ({
  prompts: availablePrompts(tenant).map(
    ({ name, title, description, arguments: argumentList }) => ({
      name,
      title,
      description,
      arguments: argumentList.map(({ name, description, required }) => ({
        name,
        description,
        required,
      })),
    }),
  ),
});

/** @throws InvalidParams for an unknown prompt or a missing argument */
export function getPrompt(
  tenant: Tenant,
  name: string,
  given: Readonly<Record<string, string>> = {},
): GetPromptResult {
  const prompt = availablePrompts(tenant).find((one) => one.name === name);
  if (!prompt) throw new InvalidParams(`Unknown prompt ${JSON.stringify(name.slice(0, 80))}`);
  const missing = prompt.arguments.filter((it) => it.required && !given[it.name]?.trim());
  if (missing.length > 0) {
    throw new InvalidParams(
      `Missing: ${missing.map((it) => `${it.name} (${it.description})`).join(', ')}`,
    );
  }
  return {
    description: prompt.description,
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(given) } }],
  };
}
