import { randomBytes } from 'node:crypto';
import {
  completable,
  createRequestStateCodec,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { SdkEndpoint } from '../../../src/hosts/endpoint.ts';
import { embedded, fromUser, image, png, text } from './content.ts';
import { addNewerQuestions, contextOrQuestion } from './newer-questions.ts';
import { AskingServer, OlderQuestions } from './older-questions.ts';
import { addTools } from './tools.ts';

const fixed = { listChanged: false };
const capabilities = {
  logging: {},
  completions: {},
  tools: fixed,
  prompts: fixed,
  resources: fixed,
};

/** The tools that the conformance suite expects, behind this server's HTTP frontend, which is what is tested. */
export function conformanceFixtures(): SdkEndpoint {
  const questions = new OlderQuestions();
  const state = createRequestStateCodec<string>({ key: randomBytes(32) });
  return {
    async server() {
      const requestState = { verify: state.verify };
      const info = { name: 'conformance-fixtures', version: '1' };
      const server = new AskingServer(questions, info, { capabilities, requestState });
      addTools(server);
      addNewerQuestions(server, state);
      addResources(server);
      addPrompts(server);
      return server;
    },
  };
}

function addResources(server: AskingServer): void {
  const plain = { mimeType: 'text/plain', description: 'Fixed words' };
  const words = 'This is the content of the static text resource.';
  server.registerResource('static-text', 'test://static-text', plain, ({ href: uri }) => ({
    contents: [{ uri, mimeType: plain.mimeType, text: words }],
  }));
  const picture = { mimeType: 'image/png', description: 'A picture' };
  server.registerResource('static-binary', 'test://static-binary', picture, ({ href: uri }) => ({
    contents: [{ uri, mimeType: picture.mimeType, blob: png }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const json = { mimeType: 'application/json', description: 'What belongs to an id' };
  server.registerResource('template', template, json, ({ href: uri }, { id }) => {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { contents: [{ uri, mimeType: json.mimeType, text: data }] };
  });
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', () => ({}));
}

function addPrompts(server: AskingServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'Fixed words' }, () => ({
    messages: [fromUser(text('This is a simple prompt for testing.'))],
  }));
  server.registerPrompt('test_prompt_with_image', { description: 'A picture' }, () => ({
    messages: [fromUser(image), fromUser(text('Please analyze the image above.'))],
  }));
  addPromptsWithArguments(server);
  const asking = { description: 'Asks first' };
  server.registerPrompt('test_input_required_result_prompt', asking, (ctx) => {
    const context = contextOrQuestion(ctx);
    if (typeof context !== 'string') return context;
    return { messages: [fromUser(text(`Use this context: ${context}`))] };
  });
}

function addPromptsWithArguments(server: AskingServer): void {
  const cities = ['paris', 'park', 'party'];
  const first = completable(z.string().describe('First test argument'), (typed) =>
    cities.filter((city) => city.startsWith(typed)),
  );
  const two = z.object({ arg1: first, arg2: z.string().describe('Second test argument') });
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Two arguments', argsSchema: two },
    ({ arg1, arg2 }) => ({
      messages: [fromUser(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  );
  const one = z.object({ resourceUri: z.string().describe('URI of the resource to embed') });
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A resource', argsSchema: one },
    ({ resourceUri: uri }) => ({
      messages: [
        fromUser(embedded(uri, 'text/plain', 'Embedded resource content for testing.')),
        fromUser(text('Please process the embedded resource above.')),
      ],
    }),
  );
}
