import {
  type Implementation,
  type JSONRPCRequest,
  type Result,
  SERVER_INFO_META_KEY,
  Server,
  type ServerContext,
  type ServerOptions,
} from '@modelcontextprotocol/server';
import { callTool, toolCall } from './calls.ts';
import { complete } from './completion.ts';
import { capabilitiesOf, description, identity, listCacheHints } from './identity.ts';
import { instructionsFor } from './instructions.ts';
import { getPrompt, listPrompts } from './prompts.ts';
import { type Connection, canSubscribe, forwardUpdates } from './resource-updates.ts';
import { listResources, listTemplates, readResource } from './resources.ts';
import { clientOfRequest } from './session.ts';
import type { ServerDescription } from './surface.ts';
import type { CallParts } from './tool-run.ts';

export interface ServerParts
  extends CallParts,
    Pick<ServerDescription, 'version' | 'receivesUpdates'> {}

type RequestHandler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>;

/** Describes itself when a connection is opened; in all other answers it only names itself, which is shorter. */
class DescribedServer extends Server {
  readonly #description: Implementation;

  constructor(version: string, options: ServerOptions) {
    super(identity(version), options);
    this.#description = description(version);
  }

  protected override _wrapHandler(method: string, handler: RequestHandler): RequestHandler {
    const answer = super._wrapHandler(method, handler);
    const describe: Record<string, () => Result> = {
      initialize: () => ({ serverInfo: this.#description }),
      'server/discover': () => ({ _meta: { [SERVER_INFO_META_KEY]: this.#description } }),
    };
    const more = describe[method];
    return more ? async (...request) => ({ ...(await answer(...request)), ...more() }) : answer;
  }
}

/**
 * Creates a protocol server for one tenant. Over HTTP there is one per request, so it must be cheap; all
 * lasting state is in `parts`.
 */
export function createServer(parts: ServerParts, connection?: Connection): Server {
  const { surface, tenant, version } = parts;
  const access = { grants: tenant.grants, surface };
  const sendsUpdates = parts.receivesUpdates && connection && canSubscribe(connection);
  const server = new DescribedServer(version, {
    capabilities: capabilitiesOf(sendsUpdates === true),
    instructions: instructionsFor(parts),
    cacheHints: {
      'tools/list': listCacheHints,
      'prompts/list': listCacheHints,
      'resources/list': listCacheHints,
      'resources/templates/list': listCacheHints,
      'server/discover': listCacheHints,
    },
  });
  if (sendsUpdates) forwardUpdates(server, parts, connection);
  server.setRequestHandler('tools/list', async (_, ctx) => {
    const { showsViews } = await clientOfRequest(tenant.writes.tokens, server, ctx);
    return { tools: [...(showsViews ? surface.listWithViews : surface.list)] };
  });
  server.setRequestHandler('tools/call', ({ params }, ctx) => callTool(parts, server, params, ctx));
  server.setRequestHandler('resources/list', () => listResources(surface));
  server.setRequestHandler('resources/templates/list', () => listTemplates(access));
  server.setRequestHandler('resources/read', ({ params }, ctx) =>
    readResource(parts, params.uri, toolCall(ctx)),
  );
  server.setRequestHandler('prompts/list', () => listPrompts(access));
  server.setRequestHandler('prompts/get', ({ params }) =>
    getPrompt(access, params.name, params.arguments),
  );
  server.setRequestHandler('completion/complete', ({ params }, ctx) =>
    complete(parts, params, toolCall(ctx)),
  );
  return server;
}
