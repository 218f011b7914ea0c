// Generates docs/tools.md, and the tools and prompts in manifest.json, from the catalogue in tools/.
import { readFile } from 'node:fs/promises';
import { type JsonSchema, toJsonSchema } from '../src/mcp/schema.ts';
import type { AnyTool } from '../src/tool-kit/define-tool.ts';
import { type Prompt, prompts } from '../src/tool-kit/prompts.ts';
import { catalog } from '../tools/catalog.ts';
import { code, formatted, generated, row } from './generated.ts';

const script = 'generate:tools';
const intro = `# Tools

Made from \`tools/\` by \`npm run generate:tools\`; do not edit.

Which of them are listed is decided when the server starts, by the toolsets asked for (\`CPQ_TOOLSETS\`)
and the grants held (\`CPQ_GRANTS\`); see [settings](settings.md).
`;

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => code(String(value))).join(', ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  const { minimum, maximum, maxLength } = schema;
  if (minimum !== undefined && maximum !== undefined) return `${schema.type} ${minimum}–${maximum}`;
  if (minimum !== undefined) return `${schema.type} ≥ ${minimum}`;
  return maxLength === undefined
    ? (schema.type ?? 'any')
    : `${schema.type} ≤ ${maxLength} characters`;
}

/** The schema that hosts get leaves most defaults out. */
function defaultOf({ input }: AnyTool, name: string): string {
  const { data } = input.shape[name]?.safeParse(undefined) ?? {};
  return data === undefined ? '' : code(String(data));
}

function argumentRows(tool: AnyTool): string[] {
  const schema = toJsonSchema(tool.input, 'input');
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const defaultText = defaultOf(tool, name);
    const required = schema.required?.includes(name) && defaultText === '';
    const meaning = property.description ?? '';
    return row(code(name), typeOf(property), required ? 'required' : defaultText, meaning);
  });
}

function section(tool: AnyTool): string {
  const rows = argumentRows(tool);
  const head = [row('argument', 'type', 'default', 'meaning'), row('---', '---', '---', '---')];
  const table = rows.length === 0 ? ['No arguments.'] : [...head, ...rows];
  const needs = tool.needs.map(code).join(', ') || 'none';
  const does = tool.hints.readOnlyHint ? 'reads only' : 'writes';
  const facts = `Toolset ${code(tool.toolset)}; grants ${needs}; ${does}.`;
  return [
    `## ${tool.name}`,
    `**${tool.title}.** ${tool.description.replaceAll('<', '&lt;')}`,
    facts,
    table.join('\n'),
  ].join('\n\n');
}

/** The first sentence, for people; the whole description is for models. */
const firstSentence = (text: string): string => /^.*?(?<!e\.g)\.(?=\s|$)/s.exec(text)?.[0] ?? text;

function promptSection(prompt: Prompt): string {
  const rows = prompt.arguments.map((argument) =>
    row(code(argument.name), argument.required ? 'required' : '', argument.description),
  );
  const table = [row('argument', '', 'meaning'), row('---', '---', '---'), ...rows];
  const needs = prompt.needs.map(code).join(', ');
  return `### ${prompt.name}\n\n**${prompt.title}.** ${prompt.description} Grants ${needs}.\n\n${table.join('\n')}`;
}

/** The prompt text with placeholders that a desktop app fills in. */
function promptOf({ name, description, arguments: all, text }: Prompt) {
  const names = all.map((argument) => argument.name);
  const open = Object.fromEntries(names.map((argument) => [argument, `\${arguments.${argument}}`]));
  return { name, description, arguments: names, text: text(open) };
}

const promptIntro =
  '## Prompts\n\nQuestions that people ask again and again; a host offers them by name.';
const sections = [...catalog.map(section), promptIntro, ...prompts.map(promptSection)];
const page = [intro.trimEnd(), ...sections].join('\n\n');
await generated('docs/tools.md', `${page}\n`, script);

const manifest = JSON.parse(await readFile('manifest.json', 'utf8'));
manifest.tools = catalog.map(({ name, description }) => ({
  name,
  description: firstSentence(description),
}));
manifest.prompts = prompts.map(promptOf);
await generated('manifest.json', formatted('manifest.json', JSON.stringify(manifest)), script);
