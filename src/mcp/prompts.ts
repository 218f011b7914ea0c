import { createHash } from 'node:crypto';
import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/server';
import { type Prompt, prompts, promptText } from '../tool-kit/prompts.ts';
import { listCacheHints } from './identity.ts';
import { InvalidParams } from './invalid-params.ts';
import type { Access } from './surface.ts';

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

/** Skills (SEP-2640): what prompts say, for hosts that let a model choose it itself. Each is one file with a digest. */

const uriOf = ({ name }: Prompt): string => `skill://${name}/SKILL.md`;

const fileOf = ({ name, title, description, how }: Prompt): string =>
  `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n# ${title}\n\n${how}\n`;

function entryOf(prompt: Prompt) {
  const { name, description } = prompt;
  const [uri, file] = [uriOf(prompt), Buffer.from(fileOf(prompt))];
  const digest = `sha256:${createHash('sha256').update(file).digest('hex')}`;
  const resources = [{ uri, digest, size: file.length }];
  return { uri, frontmatter: { name, description }, resources };
}

/** @throws InvalidParams where no skill of the caller is */
function skillAt(access: Access, uri: string): Prompt {
  const found = availablePrompts(access).find((prompt) => uriOf(prompt) === uri);
  if (!found) throw new InvalidParams('There is no such skill', { uri });
  return found;
}

export const listSkills = (access: Access) => ({
  skills: availablePrompts(access).map(entryOf),
  ...listCacheHints,
});

export const getSkill = (access: Access, uri: string) => ({
  skill: entryOf(skillAt(access, uri)),
  ...listCacheHints,
});

export const readSkill = (access: Access, uri: string): string => fileOf(skillAt(access, uri));
