import { setTimeout as pause } from 'node:timers/promises';
import {
  type CallToolResult,
  fromJsonSchema,
  type InputRequiredResult,
  type JsonSchemaType,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { audio, embedded, image, text } from './content.ts';
import { defaultsSchema, enumsSchema, personSchema } from './forms.ts';
import type { AskingServer } from './older-questions.ts';

const betweenMs = 50;
const nothing = z.object({});

/** Tools with a fixed answer. */
const answers: Readonly<Record<string, CallToolResult['content']>> = {
  test_simple_text: [text('This is a simple text response for testing.')],
  test_image_content: [image],
  test_audio_content: [audio],
  test_embedded_resource: [
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ],
  test_multiple_content_types: [
    text('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
};

/** Keywords of the latest JSON Schema, which must be listed unchanged. */
const latestSchema: JsonSchemaType = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

/** An argument that clients repeat in a header, for proxies. */
const headerSchema = z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) });

export type ToolAnswer = CallToolResult | InputRequiredResult;
export const textResult = (words: string): CallToolResult => ({ content: [text(words)] });

export function addTools(server: AskingServer): void {
  for (const [name, content] of Object.entries(answers)) {
    server.registerTool(name, described(name), () => ({ content }));
  }
  server.registerTool('test_error_handling', described('fails'), () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool('test_tool_with_logging', described('logs'), (_, ctx) => logging(ctx));
  server.registerTool('test_logging_tool', described('logs'), (_, ctx) => logging(ctx));
  server.registerTool('test_tool_with_progress', described('moves on'), (_, ctx) => progress(ctx));
  addSchemas(server);
  addOlderQuestions(server);
}

export const described = (what: string) => ({
  description: `A fixture of the conformance suite: ${what}.`,
  inputSchema: nothing,
});

async function logging(ctx: ServerContext): Promise<CallToolResult> {
  await ctx.mcpReq.log('info', 'Tool execution started');
  await pause(betweenMs);
  await ctx.mcpReq.log('info', 'Tool processing data');
  await pause(betweenMs);
  await ctx.mcpReq.log('info', 'Tool execution completed');
  return textResult('It logged three times.');
}

async function progress(ctx: ServerContext): Promise<CallToolResult> {
  const { progressToken } = ctx.mcpReq._meta ?? {};
  for (const done of [0, 50, 100]) {
    const params = { progressToken, progress: done, total: 100 };
    if (progressToken !== undefined) {
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
    }
    if (done < 100) await pause(betweenMs);
  }
  return textResult('It is done.');
}

function addSchemas(server: AskingServer): void {
  const description = 'Tool with JSON Schema 2020-12 features';
  server.registerTool(
    'json_schema_2020_12_tool',
    { description, inputSchema: fromJsonSchema(latestSchema) },
    () => textResult('It was called.'),
  );
  server.registerTool(
    'test_x_mcp_header',
    { description: 'Repeats an argument', inputSchema: headerSchema },
    (args) => textResult(JSON.stringify(args)),
  );
}

/** Elicitation in the legacy era, in the middle of a call. */
function addOlderQuestions(server: AskingServer): void {
  const prompting = z.object({ prompt: z.string() });
  server.registerTool(
    'test_sampling',
    { description: 'Asks for words', inputSchema: prompting },
    async ({ prompt }, ctx) => {
      const messages = [{ role: 'user', content: text(prompt) }];
      const answer = await server.ask(ctx, 'sampling/createMessage', { messages, maxTokens: 100 });
      return textResult(`LLM response: ${JSON.stringify(answer.content ?? answer)}`);
    },
  );
  const asking = z.object({ message: z.string() });
  server.registerTool(
    'test_elicitation',
    { description: 'Asks a person', inputSchema: asking },
    async ({ message }, ctx) =>
      textResult(`User response: ${await elicited(server, ctx, message, personSchema)}`),
  );
  const forms = {
    test_elicitation_sep1034_defaults: defaultsSchema,
    test_elicitation_sep1330_enums: enumsSchema,
  };
  for (const [name, schema] of Object.entries(forms)) {
    server.registerTool(name, described('asks a person'), async (_, ctx) =>
      textResult(`Elicitation completed: ${await elicited(server, ctx, 'Please choose', schema)}`),
    );
  }
}

async function elicited(
  server: AskingServer,
  ctx: ServerContext,
  message: string,
  requestedSchema: object,
): Promise<string> {
  const asked = { mode: 'form', message, requestedSchema };
  const { action, content } = await server.ask(ctx, 'elicitation/create', asked);
  return `action=${action}, content=${JSON.stringify(content)}`;
}
