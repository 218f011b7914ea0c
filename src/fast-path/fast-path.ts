import { capabilitiesOf, description, identity, listCacheHints } from '../mcp/identity.ts';
import { instructionsFor } from '../mcp/instructions.ts';
import { metaKeys, modernRevision } from '../mcp/protocol.ts';
import type { ServerDescription } from '../mcp/server-description.ts';
import type { CallParts } from '../mcp/tool-run.ts';
import type { FastRequest } from './requests.ts';
import type { CallContext } from './tool-calls.ts';

export interface FastPathOptions {
  /** Serves a persistent connection rather than stateless requests. */
  isPersistent: boolean;
  /** What calls need, from the first call on. */
  callParts(): CallParts | Promise<CallParts>;
}

type Caller = (request: FastRequest, context: CallContext) => Promise<object>;

/**
 * Answers frequent requests byte for byte as the SDK would, without it: loading the SDK takes longer than the
 * rest of the start, and over HTTP it creates a server per request. Writing tools are left to the SDK,
 * because they may have to send requests to the host.
 */
export class FastPath {
  readonly #description: ServerDescription;
  readonly #options: FastPathOptions;
  /** Loaded by the first call: lists need neither tools nor a tenant. */
  #caller: Promise<Caller> | undefined;
  /** Serialized results of lists. */
  readonly #lists = new Map<string, string>();

  constructor(description: ServerDescription, options: FastPathOptions) {
    this.#description = description;
    this.#options = options;
  }

  canHandle({ method, params }: FastRequest): boolean {
    if (method !== 'tools/call') return true;
    return (
      this.#description.surface.find(String(params.name))?.definition.annotations?.readOnlyHint ===
      true
    );
  }

  /**
   * The whole response, on one line.
   * @throws the signal's reason when the call was cancelled; it must not be answered
   */
  async answer(request: FastRequest, context: CallContext): Promise<string> {
    const result =
      request.method === 'tools/call'
        ? JSON.stringify(this.#inEra(request, await this.#call(request, context)))
        : await this.#listed(request);
    return `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(request.id)}}`;
  }

  async #call(request: FastRequest, context: CallContext): Promise<object> {
    this.#caller ??= this.#loadCaller();
    return (await this.#caller)(request, context);
  }

  async #loadCaller(): Promise<Caller> {
    const loading = import('./tool-calls.ts');
    const [{ callTool }, parts] = await Promise.all([loading, this.#options.callParts()]);
    return (request, context) => callTool(request, context, parts);
  }

  async #listed(request: FastRequest): Promise<string> {
    const { method, era, params } = request;
    const key = `${era} ${method} ${params.protocolVersion ?? ''}`;
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    const written = JSON.stringify(this.#inEra(request, await this.#list(request)));
    this.#lists.set(key, written);
    return written;
  }

  async #list({ method, era, params: { protocolVersion } }: FastRequest): Promise<object> {
    const { surface, version, receivesUpdates = false } = this.#description;
    const serverInfo = description(version);
    const instructions = instructionsFor(this.#description);
    const capabilities = capabilitiesOf(
      receivesUpdates && (this.#options.isPersistent || era === 'modern'),
    );
    switch (method) {
      case 'initialize':
        return { protocolVersion, capabilities, serverInfo, instructions };
      case 'server/discover':
        return {
          supportedVersions: [modernRevision],
          capabilities,
          instructions,
          _meta: { [metaKeys.server]: serverInfo },
        };
      case 'tools/list':
        return { tools: surface.list };
      case 'resources/list':
        return (await import('../mcp/resources.ts')).listResources(surface);
      case 'resources/templates/list':
        return (await import('../mcp/resources.ts')).listTemplates(this.#description);
      case 'prompts/list':
        return (await import('../mcp/prompts.ts')).listPrompts(this.#description);
      default:
        return {};
    }
  }

  /** Adds what modern results contain: type, server info, and cache hints of lists. */
  #inEra({ era, method }: FastRequest, result: object): object {
    if (era === 'legacy') return result;
    const holds = method === 'tools/call' ? {} : listCacheHints;
    const _meta = { [metaKeys.server]: identity(this.#description.version) };
    const named = '_meta' in result ? {} : { _meta };
    return { ...result, resultType: 'complete', ...holds, ...named };
  }
}
