import {
  capabilitiesOf,
  description,
  identity,
  listCacheHints,
  metaKeys,
  modernRevision,
} from '../mcp/identity.ts';
import { instructionsFor } from '../mcp/instructions.ts';
import type { ServerDescription } from '../mcp/surface.ts';
import type { CallParts } from '../mcp/tool-run.ts';
import { callMs, type Trace, traceFrom } from '../service/call.ts';
import { isObject, type JsonObject } from '../values.ts';
import type { FastRequest } from './requests.ts';

/** What lists need, and what calls need besides, from the first call on. */
export interface FastPathParts {
  description: ServerDescription;
  callParts(): CallParts | Promise<CallParts>;
}

/** The context of a request. */
export interface CallContext {
  signal: AbortSignal;
  /** Trace context, if the request contains none. */
  trace?: Trace | undefined;
  /** Sends a notification ahead of the answer. */
  notify(method: string, params: JsonObject): void;
}

/**
 * Answers frequent requests byte for byte as the SDK would, without it: loading the SDK takes longer than the
 * rest of the start, and over HTTP it creates a server per request. Writing tools are left to the SDK,
 * because they may have to send requests to the host.
 */
export class FastPath {
  readonly #parts: FastPathParts;
  readonly #isPersistent: boolean;
  /** Loaded by the first call: lists need neither tools nor a tenant. */
  #loaded: Promise<[typeof import('../mcp/tool-run.ts'), CallParts]> | undefined;
  /** Serialized results of lists. */
  readonly #lists = new Map<string, string>();

  /** `isPersistent`: serves a persistent connection rather than stateless requests. */
  constructor(parts: FastPathParts, isPersistent: boolean) {
    this.#parts = parts;
    this.#isPersistent = isPersistent;
  }

  canHandle({ method, params }: FastRequest): boolean {
    if (method !== 'tools/call') return true;
    const entry = this.#parts.description.surface.find(String(params.name));
    return entry?.definition.annotations?.readOnlyHint === true;
  }

  /**
   * The whole response, on one line.
   * @throws the signal's reason when the call was cancelled; it must not be answered
   */
  async answer(request: FastRequest, context: CallContext): Promise<string> {
    const isCall = request.method === 'tools/call';
    const result = isCall ? await this.#call(request, context) : await this.#listed(request);
    return `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(request.id)}}`;
  }

  async #call(request: FastRequest, context: CallContext): Promise<string> {
    this.#loaded ??= Promise.all([import('../mcp/tool-run.ts'), this.#parts.callParts()]);
    const [{ errorResult, progressReporter, runTool }, parts] = await this.#loaded;
    const { name, arguments: given, _meta } = request.params;
    const entry = parts.surface.find(String(name));
    if (!entry) throw new Error(`not handled by the fast path: ${name}`);
    const { signal, notify } = context;
    const { progressToken: token } = request;
    const send = (params: JsonObject) => notify('notifications/progress', params);
    const trace = traceFrom(isObject(_meta) ? _meta : {}) ?? context.trace;
    const call = {
      signal,
      trace,
      deadline: Date.now() + callMs,
      progress: token === undefined ? () => {} : progressReporter(send, token),
      client: '', // Told to those who read of a change only.
      consent: () => Promise.reject(new Error('a read-only tool requested consent to a write')),
    };
    const asked = { given: isObject(given) ? given : {}, signal, trace };
    const result = await runTool(entry, parts, asked, () => call).catch((error: unknown) => {
      signal.throwIfAborted();
      return errorResult(entry.definition.name, error, parts);
    });
    return JSON.stringify(this.#inEra(request, result));
  }

  async #listed(request: FastRequest): Promise<string> {
    const key = `${request.era} ${request.method} ${request.params.protocolVersion ?? ''}`;
    const list =
      this.#lists.get(key) ?? JSON.stringify(this.#inEra(request, await this.#list(request)));
    this.#lists.set(key, list);
    return list;
  }

  async #list({ method, era, params: { protocolVersion } }: FastRequest): Promise<object> {
    const { surface, version, receivesUpdates = false } = this.#parts.description;
    const serverInfo = description(version);
    const _meta = { [metaKeys.server]: serverInfo };
    const instructions = instructionsFor(this.#parts.description);
    const capabilities = capabilitiesOf(
      receivesUpdates && (this.#isPersistent || era === 'modern'),
    );
    switch (method) {
      case 'initialize':
        return { protocolVersion, capabilities, serverInfo, instructions };
      case 'server/discover':
        return { supportedVersions: [modernRevision], capabilities, instructions, _meta };
      case 'tools/list':
        return { tools: surface.list };
      case 'resources/list':
        return (await import('../mcp/resources.ts')).listResources(surface);
      case 'resources/templates/list':
        return (await import('../mcp/resources.ts')).listTemplates(this.#parts.description);
      case 'prompts/list':
        return (await import('../mcp/prompts.ts')).listPrompts(this.#parts.description);
      default:
        return {};
    }
  }

  /** Adds what modern results contain: type, server info, and cache hints of lists. */
  #inEra({ era, method }: FastRequest, result: object): object {
    if (era === 'legacy') return result;
    const holds = method === 'tools/call' ? {} : listCacheHints;
    const _meta = { [metaKeys.server]: identity(this.#parts.description.version) };
    const named = '_meta' in result ? {} : { _meta };
    return { ...result, resultType: 'complete', ...holds, ...named };
  }
}
