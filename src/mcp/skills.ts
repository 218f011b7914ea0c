import { createHash } from 'node:crypto';
import type { Prompt } from '../tool-kit/prompts.ts';
import { listCacheHints } from './identity.ts';
import { InvalidParams } from './invalid-params.ts';
import { availablePrompts } from './prompts.ts';
import type { Access } from './surface.ts';

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
