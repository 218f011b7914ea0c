// Generates docs/tools.md, and the tools and prompts in manifest.json, from the catalogue in tools/.
import { readFile } from 'node:fs/promises';
import { type JsonSchema, toJsonSchema } from '../src/mcp/listing.ts';
import { exportTemplate, resourceTemplates } from '../src/mcp/resources.ts';
import type { AnyTool } from '../src/tool-kit/define-tool.ts';
import { type Prompt, prompts, promptText } from '../src/tool-kit/prompts.ts';
import { searchInput } from '../src/tool-kit/schemas.ts';
import { catalog as all } from '../tools/catalog.ts';
import { code, formatted, generated } from './generated.ts';
import { toolExamples } from './tool-examples.ts';

const script = 'generate:tools';
const catalog = all.filter(({ forView }) => !forView);
const intro = `# Tools

Every tool: its toolset, grants and arguments, and a real answer of the embedded tenant, as text, shortened. Then resources,
and prompts. Made by \`npm run generate:tools\`; do not edit.

The settings \`CPQ_TOOLSETS\`, \`CPQ_TOOLS\` and \`CPQ_GRANTS\` ([settings](settings.md)) decide which tools are listed.
An answer has at most 10,000 tokens; a longer one is cut at a record, and says so. One that does not cover everything,
or is older than five minutes, says so too.
`;

const examples = await toolExamples('2026-11-16');

/** What the arguments of lists mean, in more words than a model needs. */
const listArguments: Readonly<Record<string, string>> = {
  size: 'Records of a page',
  from: 'Offset of the page; `page.next` of the answer before',
  query: 'Text to search for',
  filters:
    '`key:a|b,key2:<2027-01-01`: a comma is and, a pipe is or; `<`, `<=`, `>`, `>=` before numbers and dates; `none` and `(any)`',
  sort: '`-key,+key`: descending, ascending',
  detail: '`full` has every field of each record',
  fields: 'Only these columns',
};

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  const { minimum, maximum, maxLength } = schema;
  if (minimum !== undefined && maximum !== undefined) return `${schema.type} ${minimum}–${maximum}`;
  if (minimum !== undefined) return `${schema.type} ≥ ${minimum}`;
  if (maximum !== undefined) return `${schema.type} ≤ ${maximum}`;
  return maxLength === undefined
    ? (schema.type ?? 'any')
    : `${schema.type} ≤ ${maxLength} characters`;
}

/** The schema that hosts get leaves most defaults out. */
function defaultOf({ input }: AnyTool, name: string): string {
  const { data } = input.shape[name]?.safeParse(undefined) ?? {};
  return data === undefined ? '' : code(String(data));
}

/** An argument that all lists share. */
const isShared = ({ input }: AnyTool, name: string): boolean =>
  name in listArguments && input.shape[name] === (searchInput as Record<string, unknown>)[name];

type Meaning = (name: string, property: JsonSchema) => string | undefined;

/** A line for each argument that has a meaning here; of those that need no words, one for all of a kind. */
function argumentLines(tool: AnyTool, meaningOf: Meaning): string[] {
  const schema = toJsonSchema(tool.input, 'input');
  const lines = new Map<string, string[]>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const meaning = meaningOf(name, property);
    if (meaning === undefined) continue;
    const byDefault = defaultOf(tool, name);
    const required = schema.required?.includes(name) && byDefault === '' ? 'required' : '';
    const facts = [typeOf(property), byDefault && `default ${byDefault}`, required].filter(Boolean);
    const words = `(${facts.join('; ')})${meaning === '' ? '' : `: ${meaning}`}`;
    lines.set(words, [...(lines.get(words) ?? []), code(name)]);
  }
  return [...lines].map(([words, names]) => `- ${names.join(', ')} ${words}`);
}

function argumentsOf(tool: AnyTool): string {
  const shared = Object.keys(tool.input.shape).filter((name) => isShared(tool, name));
  const own = argumentLines(tool, (name, { description = '' }) =>
    isShared(tool, name) ? undefined : description,
  );
  const ofLists = `- as of [lists](#lists): ${shared.map(code).join(', ')}`;
  return [...own, ...(shared.length > 0 ? [ofLists] : [])].join('\n') || 'No arguments.';
}

function exampleOf({ name }: AnyTool): string {
  const example = examples.get(name);
  if (example === undefined) return 'For an example, see [webhooks](webhooks.md).';
  return ['```', `${name} ${example.arguments}`, '', example.answer, '```'].join('\n');
}

const descriptionOf = ({ description }: AnyTool): string => description.replaceAll('<', '&lt;');

function section(tool: AnyTool): string {
  const needs = tool.needs.map(code).join(', ') || 'none';
  const does = tool.hints.readOnlyHint ? 'reads only' : 'writes';
  const facts = `${code(tool.toolset)}; ${needs}; ${does}.`;
  return [
    `## ${tool.name}`,
    `**${tool.title}.** ${descriptionOf(tool)}`,
    facts,
    argumentsOf(tool),
    exampleOf(tool),
  ].join('\n\n');
}

/** Lists of records of the service, which take the same arguments, or some of them. */
const isList = ({ name, toolset }: AnyTool): boolean =>
  toolset === 'routes' && name.startsWith('cpq_list_');

function listLine(tool: AnyTool): string {
  const missing = Object.keys(listArguments).filter((name) => !(name in tool.input.shape));
  const without = missing.length === 0 ? '' : `; without ${missing.map(code).join(', ')}`;
  const needs = tool.needs.map(code).join(', ');
  const own = argumentLines(tool, (name, { description = '' }) =>
    name in listArguments ? undefined : description,
  ).map((line) => `\n  ${line}`);
  return `- **${tool.name}** (${needs}${without}): ${descriptionOf(tool)}${own.join('')}`;
}

function listSection(): string {
  const lists = catalog.filter(isList);
  const [first] = lists;
  if (!first) throw new Error('There is no list to describe the arguments of');
  return [
    '## Lists',
    'Of the toolset `routes`; they only read.',
    lists.map(listLine).join('\n'),
    'Their arguments:',
    argumentLines(first, (name) => listArguments[name]).join('\n'),
    ...lists.filter(({ name }) => examples.has(name)).map(exampleOf),
  ].join('\n\n');
}

/** The first sentence, for people; the whole description is for models. */
const firstSentence = (text: string): string => /^.*?(?<!e\.g)\.(?=\s|$)/s.exec(text)?.[0] ?? text;

function promptLine({ name, description, arguments: all, needs }: Prompt): string {
  const takes = all.map((one) => (one.required ? code(one.name) : `${code(one.name)} if given`));
  return `- ${code(name)} (${takes.join(', ')}; ${needs.map(code).join(', ')}): ${description}`;
}

function resourceSection(): string {
  const records = resourceTemplates.map(({ uriTemplate }) => code(uriTemplate));
  const rows = `${code(exportTemplate.uriTemplate)}: ${exportTemplate.description}`;
  return `## Resources\n\n- One record, whole: ${records.join(', ')}\n- ${rows}`;
}

/**
 * The prompt text with placeholders that a desktop app fills in. An optional value has a line of its own, so
 * that the rest reads as if it had not been asked for.
 */
function promptOf(prompt: Prompt) {
  const { name, description, arguments: all } = prompt;
  const placeholder = (argument: string) => `\${arguments.${argument}}`;
  const required = all.filter((argument) => argument.required);
  const given = Object.fromEntries(required.map((one) => [one.name, placeholder(one.name)]));
  const optional = all
    .filter((argument) => !argument.required)
    .map((one) => `\n\n${one.description} (if given): ${placeholder(one.name)}`);
  return {
    name,
    description,
    arguments: all.map((one) => one.name),
    text: [promptText(prompt, given), ...optional].join(''),
  };
}

const promptSection = `## Prompts

Frequent questions. A person chooses a prompt by its name, with arguments, in a host that shows prompts.

${prompts.map(promptLine).join('\n')}`;
const sections = [
  listSection(),
  ...catalog.filter((tool) => !isList(tool)).map(section),
  resourceSection(),
  promptSection,
];
const page = [intro.trimEnd(), ...sections].join('\n\n');
await generated('docs/tools.md', `${page}\n`, script);

const manifest = JSON.parse(await readFile('manifest.json', 'utf8'));
manifest.tools = catalog.map(({ name, description }) => ({
  name,
  description: firstSentence(description),
}));
manifest.prompts = prompts.map(promptOf);
await generated('manifest.json', formatted('manifest.json', JSON.stringify(manifest)), script);
