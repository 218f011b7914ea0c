import {
  acceptedContent,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { text } from './content.ts';
import { described, type ToolAnswer, textResult } from './tools.ts';

type State = RequestStateCodec<string>;

type Field = { type: 'string' } | { type: 'boolean' };

const form = (message: string, name: string, field: Field = { type: 'string' }) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [name]: field }, required: [name] },
  });

const words = (prompt: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: text(prompt) }],
    maxTokens,
  });

const askName = form('What is your name?', 'name');
const askRoots = inputRequired.listRoots();

/** Elicitation in the modern era: the call ends with questions, and is repeated with the answers. */
export function addNewerQuestions(server: McpServer, state: State): void {
  const prefix = 'test_input_required_result_';
  const rounds: Record<string, (ctx: ServerContext) => ToolAnswer | Promise<ToolAnswer>> = {
    [`${prefix}elicitation`]: greet,
    [`${prefix}sampling`]: sample,
    [`${prefix}list_roots`]: roots,
    [`${prefix}request_state`]: (ctx) => confirm(ctx, state),
    [`${prefix}tampered_state`]: (ctx) => confirm(ctx, state),
    [`${prefix}multiple_inputs`]: (ctx) => everything(ctx, state),
    [`${prefix}multi_round`]: (ctx) => twoRounds(ctx, state),
    [`${prefix}capabilities`]: (ctx) => whatItCan(ctx, server),
    test_streaming_elicitation: greet,
    test_missing_capability: sample,
  };
  for (const [name, run] of Object.entries(rounds)) {
    server.registerTool(name, described('asks'), (_, ctx) => run(ctx));
  }
}

/** A question of a prompt that needs an answer first. */
export function contextOrQuestion(ctx: ServerContext): string | InputRequiredResult {
  const given = acceptedContent(ctx.mcpReq.inputResponses, 'user_context');
  const question = form('What context should the prompt use?', 'context');
  return given ? String(given.context) : ask({ user_context: question });
}

const ask = (inputRequests: Record<string, InputRequest>, requestState?: string) =>
  inputRequired({ inputRequests, ...(requestState === undefined ? {} : { requestState }) });

const given = (ctx: ServerContext, key: string) => inputResponse(ctx.mcpReq.inputResponses, key);

function greet(ctx: ServerContext): ToolAnswer {
  const person = acceptedContent(ctx.mcpReq.inputResponses, 'user_name');
  return person ? textResult(`Hello, ${person.name}!`) : ask({ user_name: askName });
}

function sample(ctx: ServerContext): ToolAnswer {
  const answer = given(ctx, 'capital_question');
  if (answer.kind === 'sampling') return textResult(JSON.stringify(answer.result.content));
  return ask({ capital_question: words('What is the capital of France?', 100) });
}

function roots(ctx: ServerContext): ToolAnswer {
  const answer = given(ctx, 'client_roots');
  if (answer.kind === 'roots') return textResult(answer.roots.map(({ uri }) => uri).join(', '));
  return ask({ client_roots: askRoots });
}

/** The SDK has already refused a state with a wrong seal. */
async function confirm(ctx: ServerContext, state: State): Promise<ToolAnswer> {
  const answer = acceptedContent(ctx.mcpReq.inputResponses, 'confirm');
  if (answer && ctx.mcpReq.requestState<string>() === 'asked') return textResult('state-ok');
  return ask(
    { confirm: form('Please confirm', 'ok', { type: 'boolean' }) },
    await state.mint('asked'),
  );
}

async function everything(ctx: ServerContext, state: State): Promise<ToolAnswer> {
  const keys = ['user_name', 'greeting', 'client_roots'];
  if (keys.every((key) => given(ctx, key).kind !== 'missing'))
    return textResult('All were answered.');
  const questions = {
    user_name: askName,
    greeting: words('Generate a greeting', 50),
    client_roots: askRoots,
  };
  return ask(questions, await state.mint('asked'));
}

async function twoRounds(ctx: ServerContext, state: State): Promise<ToolAnswer> {
  const color = acceptedContent(ctx.mcpReq.inputResponses, 'step2');
  const name = acceptedContent(ctx.mcpReq.inputResponses, 'step1');
  const before = ctx.mcpReq.requestState<string>();
  if (color && before !== undefined) return textResult(`${before} likes ${color.color}.`);
  if (name) {
    const question = form('Step 2: What is your favorite color?', 'color');
    return ask({ step2: question }, await state.mint(String(name.name)));
  }
  return ask({ step1: form('Step 1: What is your name?', 'name') }, await state.mint(''));
}

/** Asks only for what the client supports. */
function whatItCan(ctx: ServerContext, { server }: McpServer): ToolAnswer {
  const can = server.getClientCapabilities() ?? {};
  const questions = {
    ...(can.elicitation ? { user_name: askName } : {}),
    ...(can.sampling ? { greeting: words('Generate a greeting', 50) } : {}),
    ...(can.roots ? { client_roots: askRoots } : {}),
  };
  const open = Object.keys(questions).filter((key) => given(ctx, key).kind === 'missing');
  return open.length > 0
    ? ask(questions)
    : textResult('There is nothing to ask, or all was answered.');
}
