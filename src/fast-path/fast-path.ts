import { clientOf, clientOfMeta, type HostClient } from '../mcp/client.ts';
import {
  capabilities,
  description,
  identity,
  legacyRevisions,
  listCacheHints,
  metaKeys,
  modernRevision,
  reservedPrefix,
} from '../mcp/identity.ts';
import { instructionsFor } from '../mcp/instructions.ts';
import type { ServerDescription } from '../mcp/surface.ts';
import type { CallParts } from '../mcp/tool-run.ts';
import { fieldOf, isObject, type JsonObject, toError } from '../values.ts';

/** What lists need, and what calls need besides, from the first call on. */
export interface FastPathParts {
  description: ServerDescription;
  callParts(): CallParts | Promise<CallParts>;
}

export interface CallContext {
  signal: AbortSignal;
  /** The client of a legacy connection or session; modern requests describe theirs. */
  client?: HostClient | undefined;
  /** Sends the parameters of a progress notification ahead of the answer. */
  notify(params: JsonObject): void;
}

/**
 * Answers frequent requests byte for byte as the SDK would, without it: loading the SDK takes longer than the
 * rest of the start, and over HTTP it creates a server per request. Writing tools are left to the SDK,
 * because they may have to send requests to the host.
 */
export class FastPath {
  readonly #parts: FastPathParts;
  /** Loaded by the first call: lists need neither tools nor a tenant. */
  #loaded: Promise<[typeof import('../mcp/tool-run.ts'), CallParts]> | undefined;
  /** Serialized results of lists. */
  readonly #lists = new Map<string, string>();

  constructor(parts: FastPathParts) {
    this.#parts = parts;
  }

  canHandle({ method, params }: FastRequest): boolean {
    if (method !== 'tools/call') return true;
    const entry = this.#parts.description.surface.byName.get(String(params.name));
    return entry?.definition.annotations?.readOnlyHint === true;
  }

  /** @throws the signal's reason when the call was cancelled; it must not be answered */
  async answer(request: FastRequest, context: CallContext): Promise<string> {
    const isCall = request.method === 'tools/call';
    const result = await (isCall ? this.#call(request, context) : this.#listed(request, context));
    return `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(request.id)}}`;
  }

  async #call(request: FastRequest, context: CallContext): Promise<string> {
    this.#loaded ??= Promise.all([import('../mcp/tool-run.ts'), this.#parts.callParts()]);
    const [{ readingCall, runTool }, parts] = await this.#loaded;
    const { name, arguments: given } = request.params;
    const entry = parts.surface.byName.get(String(name));
    if (!entry) throw new Error(`not handled by the fast path: ${name}`);
    const { signal, notify } = context;
    const call = readingCall(signal, notify, request.progressToken);
    const asked = { given: isObject(given) ? given : {}, signal };
    const result = await runTool(entry, parts, asked, () => call);
    return JSON.stringify(request.era === 'legacy' ? result : this.#inEra(request, result));
  }

  async #listed(request: FastRequest, context: CallContext): Promise<string> {
    const { era, method, params } = request;
    const client = era === 'modern' ? clientOfMeta(params._meta) : context.client;
    const showsViews = client?.showsViews === true;
    const key = `${era} ${method} ${params.protocolVersion ?? ''} ${showsViews}`;
    const list =
      this.#lists.get(key) ??
      JSON.stringify(this.#inEra(request, await this.#list(request, showsViews)));
    this.#lists.set(key, list);
    return list;
  }

  async #list(
    { method, params: { protocolVersion } }: FastRequest,
    showsViews: boolean,
  ): Promise<object> {
    const { surface } = this.#parts.description;
    const _meta = { [metaKeys.server]: description };
    const instructions = instructionsFor(this.#parts.description);
    switch (method) {
      case 'initialize':
        return { protocolVersion, capabilities, serverInfo: description, instructions };
      case 'server/discover':
        return { supportedVersions: [modernRevision], capabilities, instructions, _meta };
      case 'tools/list':
        return { tools: showsViews ? surface.listWithViews : surface.list };
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
    const named = '_meta' in result ? {} : { _meta: { [metaKeys.server]: identity } };
    return { ...result, resultType: 'complete', ...holds, ...named };
  }
}

export type Era = 'legacy' | 'modern';

/** A request is recognized by its exact shape: any deviation, valid or not, is left to the SDK. */
export interface FastRequest {
  id: string | number;
  method: string;
  era: Era;
  params: JsonObject;
  progressToken: string | number | undefined;
}

const isId = (value: unknown): value is string | number =>
  typeof value === 'string' || Number.isSafeInteger(value);

function hasOnly(object: JsonObject, names: readonly string[]): boolean {
  for (const name in object) if (!names.includes(name)) return false;
  return true;
}

const clientFields = ['name', 'version', 'title', 'websiteUrl', 'description'];

const isClient = (value: unknown): boolean =>
  isObject(value) &&
  typeof value.name === 'string' &&
  typeof value.version === 'string' &&
  hasOnly(value, clientFields) &&
  Object.values(value).every((field) => typeof field === 'string');

/** Objects of objects, or of flags. They do not affect the requests that are answered here. */
const areCapabilities = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, capability]) =>
      isObject(capability) &&
      Object.values(capability).every((field) =>
        name === 'roots' ? typeof field === 'boolean' : isObject(field),
      ),
  );

/** The request, if the fast path knows its kind. */
export function readRequest(message: unknown): FastRequest | undefined {
  if (!isObject(message) || message.jsonrpc !== '2.0') return undefined;
  const { id, method, params = {} } = message;
  if (!isId(id) || typeof method !== 'string' || !isObject(params)) return undefined;
  if (!hasOnly(message, ['jsonrpc', 'id', 'method', 'params'])) return undefined;
  const { _meta: meta } = params;
  const era = meta === undefined ? 'legacy' : eraOf(meta);
  if (!era || !isAnswered(method, era, params)) return undefined;
  const progressToken = fieldOf(meta, 'progressToken');
  return {
    id,
    method,
    params,
    era,
    progressToken: isId(progressToken) ? progressToken : undefined,
  };
}

/** Whether the method is answered in this era, with these parameters. */
function isAnswered(method: string, era: Era, params: JsonObject): boolean {
  switch (method) {
    case 'tools/call':
      return (
        typeof params.name === 'string' &&
        (params.arguments === undefined || isObject(params.arguments)) &&
        hasOnly(params, ['name', 'arguments', '_meta'])
      );
    case 'initialize':
      return (
        era === 'legacy' &&
        legacyRevisions.includes(String(params.protocolVersion)) &&
        areCapabilities(params.capabilities) &&
        isClient(params.clientInfo) &&
        hasOnly(params, ['protocolVersion', 'capabilities', 'clientInfo', '_meta'])
      );
    case 'ping':
      return era === 'legacy' && hasOnly(params, ['_meta']);
    case 'server/discover':
      return era === 'modern' && hasOnly(params, ['_meta']);
    default:
      return lists.includes(method) && hasOnly(params, ['_meta']);
  }
}

const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];

/** The era of the request, by `_meta`; `undefined` if `_meta` has an unknown form. */
function eraOf(meta: unknown): Era | undefined {
  if (!isObject(meta) || !(meta.progressToken === undefined || isId(meta.progressToken)))
    return undefined;
  // Other fields belong to the host.
  const ofProtocol = Object.keys(meta).filter((name) => name.startsWith(reservedPrefix));
  if (ofProtocol.length === 0) return 'legacy';
  const { revision, capabilities, client } = metaKeys;
  const own: readonly string[] = [revision, capabilities, client];
  const isModern =
    meta[revision] === modernRevision &&
    areCapabilities(meta[capabilities]) &&
    (meta[client] === undefined || isClient(meta[client])) &&
    ofProtocol.every((name) => own.includes(name));
  return isModern ? 'modern' : undefined;
}

export interface Connection {
  write(line: string): void;
  onError(error: Error): void;
}

/** The fast path of a persistent connection. A connection with an unusual opening is served by the SDK alone. */
export class ConnectionFastPath {
  readonly #fastPath: FastPath;
  readonly #connection: Connection;
  readonly #calls = new Map<unknown, { call: AbortController; answered: Promise<void> }>();
  /** Answered opening messages, to be replayed to the SDK when it starts. */
  readonly opening: JsonObject[] = [];
  #era: Era | undefined;
  #client: HostClient | undefined;
  /** Whether the fast path is active; off once the connection is opened again or was never negotiated. */
  #isOn = true;
  #sdkStarted = false;

  constructor(parts: FastPathParts, connection: Connection) {
    this.#fastPath = new FastPath(parts);
    this.#connection = connection;
  }

  /** @returns whether the message is handled here; if not, the SDK must handle it */
  tryAnswer(message: unknown): boolean {
    const method = fieldOf(message, 'method');
    if (method === 'notifications/cancelled' && this.#cancels(message)) return true;
    const request = this.#isOn ? readRequest(message) : undefined;
    if (request && this.#fits(request) && this.#fastPath.canHandle(request)) {
      if (!this.#isNegotiated) this.#open(request);
      const call = new AbortController();
      this.#calls.set(request.id, { call, answered: this.#answer(request, call) });
      return true;
    }
    if (this.#isSilent(message)) return true;
    // Refused without the SDK.
    if (method === 'subscriptions/listen') return false;
    this.#sdkStarted = true;
    if (isOpening(method) || !this.#isNegotiated) this.#isOn = false;
    return false;
  }

  close(): void {
    this.#isOn = false;
    for (const { call } of this.#calls.values()) call.abort(new Error('the connection ended'));
  }

  async answered(): Promise<void> {
    await Promise.all([...this.#calls.values()].map(({ answered }) => answered));
  }

  /** Whether the request opens the connection or fits its era. */
  #fits({ method, era }: FastRequest): boolean {
    return this.#era ? era === this.#era && method !== 'initialize' : isOpening(method);
  }

  /** After `server/discover` alone, the client may still fall back to the legacy era. */
  get #isNegotiated(): boolean {
    return this.#era === 'legacy' || this.opening.length > 1;
  }

  #open({ id, method, era, params }: FastRequest): void {
    if (this.#era && isOpening(method)) return;
    // The second one completes the negotiation of the era when it is replayed; its answer is discarded.
    const second = { id: 'cpq-mcp-settles', method: 'tools/list', params: { _meta: params._meta } };
    this.opening.push({ jsonrpc: '2.0', ...(this.#era ? second : { id, method, params }) });
    this.#era = era;
    this.#client ??= clientOf(params.clientInfo, params.capabilities);
  }

  async #answer(request: FastRequest, call: AbortController): Promise<void> {
    const { write, onError } = this.#connection;
    const { signal } = call;
    const notify = (params: JsonObject) =>
      write(JSON.stringify({ method: 'notifications/progress', params, jsonrpc: '2.0' }));
    try {
      const context = { signal, notify, client: this.#client };
      const line = await this.#fastPath.answer(request, context);
      if (!signal.aborted) write(line);
    } catch (error) {
      if (signal.aborted) return; // Cancelled calls are not answered.
      onError(toError(error)); // A fault of this server, such as a file of it that was removed.
      const internal = { code: -32603, message: 'Internal error' };
      write(JSON.stringify({ jsonrpc: '2.0', id: request.id, error: internal }));
    } finally {
      if (this.#calls.get(request.id)?.call === call) this.#calls.delete(request.id);
    }
  }

  #cancels(message: unknown): boolean {
    const { call } = this.#calls.get(fieldOf(fieldOf(message, 'params'), 'requestId')) ?? {};
    call?.abort(new Error('cancelled by the host'));
    return call !== undefined;
  }

  /** Whether the message needs no handling: a notification, after negotiation and before the SDK has started. */
  #isSilent(message: unknown): boolean {
    const isNotification = isObject(message) && !('id' in message);
    return isNotification && this.#isNegotiated && !this.#sdkStarted;
  }
}

const isOpening = (method: unknown): boolean =>
  method === 'initialize' || method === 'server/discover';
