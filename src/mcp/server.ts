import {
  type CallToolResult,
  type CompleteRequest,
  type CompleteResult,
  type InputRequiredResult,
  type JSONRPCRequest,
  type Result,
  SERVER_INFO_META_KEY,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ChangeCall } from '../changes/consent.ts';
import { isSearchKind, type SearchKind } from '../names/search.ts';
import { completeNames } from '../tenant/lookup.ts';
import type { ToolCall } from '../tenant/tenant.ts';
import { visible } from '../text/characters.ts';
import { withoutSecrets } from '../text/secrets.ts';
import { isObject } from '../values.ts';
import {
  type AskingCall,
  askHost,
  createQuestion,
  elicitConsent,
  type FormAnswer,
  requestConsent,
} from './consent.ts';
import { capabilities, description, identity, listCacheHints } from './identity.ts';
import { instructionsFor } from './instructions.ts';
import { unknownTool } from './observer.ts';
import { availablePrompts, getPrompt, listPrompts } from './prompts.ts';
import { listResources, listTemplates, readableTemplates, readResource } from './resources.ts';
import { clientOfRequest, isModern } from './session.ts';
import { type Access, InvalidParams, isForView } from './surface.ts';
import { type CallParts, readingCall, runTool } from './tool-run.ts';

type RequestHandler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

/** Describes itself when a connection is opened; in all other answers it only names itself, which is shorter. */
class DescribedServer extends Server {
  protected override _wrapHandler(method: string, handler: RequestHandler): RequestHandler {
    const answer = super._wrapHandler(method, handler);
    const describe: Record<string, () => Result> = {
      initialize: () => ({ serverInfo: description }),
      'server/discover': () => ({ _meta: { [SERVER_INFO_META_KEY]: description } }),
    };
    const more = describe[method];
    return more ? async (...request) => ({ ...(await answer(...request)), ...more() }) : answer;
  }
}

const cacheable = [
  ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'],
  'server/discover',
];

/** Over HTTP there is one per request, so it must be cheap; all lasting state is in `parts`. */
export function createServer(parts: CallParts): Server {
  const { surface, tenant } = parts;
  const server = new DescribedServer(identity, {
    capabilities,
    instructions: instructionsFor(parts),
    cacheHints: Object.fromEntries(cacheable.map((method) => [method, listCacheHints])),
  });
  server.setRequestHandler('tools/list', async (_, ctx) => {
    const { showsViews } = await clientOfRequest(tenant.writes.tokens, server, ctx);
    return { tools: [...(showsViews ? surface.listWithViews : surface.list)] };
  });
  server.setRequestHandler('tools/call', ({ params }, ctx) => callTool(parts, server, params, ctx));
  server.setRequestHandler('resources/list', () => listResources(surface));
  server.setRequestHandler('resources/templates/list', () => listTemplates(parts));
  server.setRequestHandler('resources/read', ({ params }, ctx) =>
    readResource(parts, params.uri, toolCall(ctx)),
  );
  server.setRequestHandler('prompts/list', () => listPrompts(parts));
  server.setRequestHandler('prompts/get', ({ params }) =>
    getPrompt(parts, params.name, params.arguments),
  );
  server.setRequestHandler('completion/complete', ({ params }, ctx) =>
    complete(parts, params, toolCall(ctx)),
  );
  return server;
}

/**
 * If a person must be asked, the result is the question, and the host repeats the call with the answer.
 * @throws InvalidParams for a tool that is not listed; the signal's reason when cancelled
 */
async function callTool(
  parts: CallParts,
  server: Server,
  params: { name: string; arguments?: Record<string, unknown> | undefined },
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const { signal, inputResponses: responses } = ctx.mcpReq;
  const entry = parts.surface.byName.get(params.name);
  const asked = { given: params.arguments, signal };
  if (!entry) {
    parts.observer?.onCall(unknownTool)('refused');
    throw new InvalidParams(`Unknown tool ${JSON.stringify(params.name.slice(0, 80))}`);
  }
  const client = await clientOfRequest(parts.tenant.writes.tokens, server, ctx);
  const run = (formAnswer: FormAnswer): Promise<CallToolResult | InputRequiredResult> => {
    const createCall = (args: Record<string, unknown>) => {
      const asking = { tool: params.name, args, client, formAnswer };
      return changeCall(parts, ctx, isForView(entry.definition) ? answeredCall(asking) : asking);
    };
    return runTool(entry, parts, asked, createCall, async (question) =>
      isModern(server)
        ? elicitConsent(question)
        : run(await askHost(question, server, ctx, parts.tenant)),
    );
  };
  // A host of the modern era repeats the call with its answer; one of the legacy era answers during the call.
  return run({ seal: ctx.mcpReq.requestState<string>(), responses });
}

/** The call that a person answered in a view, by what the view sent. */
function answeredCall(call: AskingCall): AskingCall {
  const { secret, tool, arguments: args, answer } = call.args;
  const chosen = { secret: String(secret), isAgreed: answer === 'write' };
  return { ...call, tool: String(tool), args: isObject(args) ? args : {}, chosen };
}

function changeCall(parts: CallParts, ctx: ServerContext, asking: AskingCall): ChangeCall {
  const { client, args, chosen, formAnswer } = asking;
  return {
    ...toolCall(ctx),
    client: client.name,
    answered: [formAnswer.seal, args.confirm, chosen].some((it) => it !== undefined),
    consent: (proposal) => requestConsent(proposal, parts, asking),
    ...(chosen && {
      askAgain: (proposal) => createQuestion('view', proposal, parts.tenant, asking),
    }),
  };
}

/** The context of a call: cancellation, deadline and progress. */
function toolCall(ctx: ServerContext): ChangeCall {
  const { signal, _meta } = ctx.mcpReq;
  // Errors are ignored: a disconnected host's calls are cancelled elsewhere.
  const notify = (params: Record<string, unknown>) =>
    void ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  const call = readingCall(signal, notify, _meta?.progressToken);
  return { ...call, caller: ctx.http?.authInfo?.clientId };
}

/** The protocol's own limit. */
const maxValues = 100;

/** Completes typed text with names that resolve to one record. Read errors give an empty completion. */
async function complete(
  parts: CallParts,
  { ref, argument }: CompleteRequest['params'],
  call: ToolCall,
): Promise<CompleteResult> {
  const kind = completedKind(parts, ref, argument.name);
  const none = { names: [], isWhole: true };
  const { names, isWhole } = kind
    ? await completeNames(parts.tenant, kind, argument.value, call).catch(() => {
        call.signal.throwIfAborted();
        return none;
      })
    : none;
  const values = names.slice(0, maxValues).map((name) => withoutSecrets(visible(name)));
  const total = isWhole ? { total: names.length } : {};
  return { completion: { values, ...total, hasMore: !isWhole || names.length > maxValues } };
}

function completedKind(
  access: Access,
  ref: CompleteRequest['params']['ref'],
  argument: string,
): SearchKind | undefined {
  if (ref.type === 'ref/prompt') {
    const prompt = availablePrompts(access).find(({ name }) => name === ref.name);
    return prompt?.arguments.find(({ name }) => name === argument)?.completes;
  }
  const template = readableTemplates(access).find(({ uriTemplate }) => uriTemplate === ref.uri);
  const kind = template?.resource;
  return argument === 'id' && kind !== undefined && isSearchKind(kind) ? kind : undefined;
}
