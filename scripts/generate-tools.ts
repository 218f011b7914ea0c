// Generates docs/tools.md, and the tools and prompts in manifest.json, from the catalogue in tools/.
import { readFile } from 'node:fs/promises';
import { exportTemplate, resourceTemplates } from '../src/mcp/resources.ts';
import { type JsonSchema, toJsonSchema } from '../src/mcp/schema.ts';
import { type AnyTool, searchInput } from '../src/tool-kit/define-tool.ts';
import { type Prompt, prompts, promptText } from '../src/tool-kit/prompts.ts';
import { catalog as all } from '../tools/catalog.ts';
import { code, formatted, generated, row } from './generated.ts';
import { toolExamples } from './tool-examples.ts';

const script = 'generate:tools';
const catalog = all.filter(({ forView }) => !forView);
const intro = `# Tools

Every tool: its toolset, grants and arguments, and a real answer of the embedded tenant, as text, shortened. Then resources,
prompts and skills. Made by \`npm run generate:tools\`; do not edit.

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
    '`key:a|b,key2:<2027-01-01`: a comma is and, a pipe is or; `<`, `<=`, `>`, `>=` before numbers and dates; `(none)` and `(any)`',
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

/** A row for each argument that has a meaning here. */
function argumentRows(tool: AnyTool, meaningOf: Meaning): string[] {
  const schema = toJsonSchema(tool.input, 'input');
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const meaning = meaningOf(name, property);
    if (meaning === undefined) return [];
    const defaultText = defaultOf(tool, name);
    const required = schema.required?.includes(name) && defaultText === '';
    return [row(code(name), typeOf(property), required ? 'required' : defaultText, meaning)];
  });
}

const argumentTable = (rows: readonly string[]): string =>
  [row('argument', 'type', 'default', 'meaning'), row('---', '---', '---', '---'), ...rows].join(
    '\n',
  );

function argumentsOf(tool: AnyTool): string {
  const names = Object.keys(tool.input.shape);
  const shared = names.filter((name) => isShared(tool, name));
  const rows = argumentRows(tool, (name, { description = '' }) =>
    isShared(tool, name) ? undefined : description,
  );
  const which =
    shared.length === Object.keys(listArguments).length ? 'all' : shared.map(code).join(', ');
  const ofLists = shared.length > 0 && `Arguments of [lists](#lists): ${which}.`;
  const table = rows.length > 0 && argumentTable(rows);
  return [ofLists, table].filter(Boolean).join('\n\n') || 'No arguments.';
}

function exampleOf({ name }: AnyTool): string {
  const example = examples.get(name);
  if (example === undefined) return 'For an example, see [webhooks](webhooks.md).';
  return ['```', `${name} ${example.arguments}`, '', example.answer, '```'].join('\n');
}

function section(tool: AnyTool): string {
  const needs = tool.needs.map(code).join(', ') || 'none';
  const does = tool.hints.readOnlyHint ? 'reads only' : 'writes';
  const facts = `${code(tool.toolset)}; ${needs}; ${does}.`;
  return [
    `## ${tool.name}`,
    `**${tool.title}.** ${tool.description.replaceAll('<', '&lt;')}`,
    facts,
    argumentsOf(tool),
    exampleOf(tool),
  ].join('\n\n');
}

function listSection(): string {
  const list = catalog.find(({ name }) => name === 'cpq_list_companies');
  if (!list) throw new Error('There is no list to describe the arguments of');
  return `## Lists\n\n${argumentTable(argumentRows(list, (name) => listArguments[name]))}`;
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

const promptSection = `## Prompts and skills

Frequent questions. A person chooses a prompt by its name, with arguments, in a host that shows prompts; a model reads the
same as a skill (\`skill://forecast/SKILL.md\`, listed with its digest) in a host that knows skills.

${prompts.map(promptLine).join('\n')}`;
const sections = [listSection(), ...catalog.map(section), resourceSection(), promptSection];
const page = [intro.trimEnd(), ...sections].join('\n\n');
await generated('docs/tools.md', `${page}\n`, script);

const manifest = JSON.parse(await readFile('manifest.json', 'utf8'));
manifest.tools = catalog.map(({ name, description }) => ({
  name,
  description: firstSentence(description),
}));
manifest.prompts = prompts.map(promptOf);
await generated('manifest.json', formatted('manifest.json', JSON.stringify(manifest)), script);
