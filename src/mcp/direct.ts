import { type Trace, traceFrom } from '../api/trace.ts';
import type { ToolCall } from '../tenant/call.ts';
import { capabilitiesOf, identity, instructions, longLived } from './identity.ts';
import { type Client, metaKeys, modernRevision, type PlainRequest, type Row } from './plain.ts';
import type { ServerParts } from './server.ts';
import { visible } from './text.ts';
import { callMs, failure, progressTo, runTool } from './tool-run.ts';

/** A call that is being answered. */
export interface Answering {
  signal: AbortSignal;
  /** Who asks, where the request itself does not say. */
  client?: Client | undefined;
  /** The trace that it was carried in, where the request itself says none. */
  trace?: Trace | undefined;
  /** Sends a notification ahead of the answer. */
  notify(method: string, params: Row): void;
}

/**
 * Answers plain requests in the SDK's own words, byte for byte, without the SDK: loading it takes longer
 * than everything else at the start, and over HTTP it makes a server for every request. What may need a
 * person, and so a way back to the host, is not answered here.
 */
export class Direct {
  readonly #parts: ServerParts;
  readonly #lasts: boolean;
  readonly #server: ReturnType<typeof identity>;
  /** Results of lists, written out once. */
  readonly #lists = new Map<string, string>();

  /** `lasts`: of a connection, rather than of requests that have nothing in common. */
  constructor(parts: ServerParts, { lasts }: { lasts: boolean }) {
    this.#parts = parts;
    this.#lasts = lasts;
    this.#server = identity(parts.version);
  }

  /** Whether `answer` has one. */
  takes({ method, params }: PlainRequest): boolean {
    if (method !== 'tools/call') return true;
    return this.#parts.surface.find(String(params.name))?.listed.annotations?.readOnlyHint === true;
  }

  /**
   * The whole answer, on one line.
   * @throws the signal's reason when the call was cancelled: it is not to be answered
   */
  async answer(request: PlainRequest, answering: Answering): Promise<string> {
    const result =
      request.method === 'tools/call'
        ? JSON.stringify(this.#worded(request, await this.#call(request, answering)))
        : await this.#listed(request);
    return `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(request.id)}}`;
  }

  async #call({ params, ...request }: PlainRequest, answering: Answering): Promise<object> {
    const name = String(params.name);
    const { surface, log } = this.#parts;
    const entry = surface.find(name);
    if (!entry) throw new Error(`not taken: ${name}`);
    try {
      const asked = {
        given: params.arguments as Row | undefined,
        signal: answering.signal,
        trace: traceFrom((params._meta as Row | undefined) ?? {}) ?? answering.trace,
      };
      return await runTool(entry, this.#parts, asked, (_, trace) =>
        callOf(request, answering, trace),
      );
    } catch (error) {
      answering.signal.throwIfAborted();
      return failure(name, error, log);
    }
  }

  async #listed(request: PlainRequest): Promise<string> {
    const { method, era, params } = request;
    const key = `${era} ${method} ${params.protocolVersion ?? ''}`;
    let written = this.#lists.get(key);
    if (written === undefined) {
      written = JSON.stringify(this.#worded(request, await this.#list(request)));
      this.#lists.set(key, written);
    }
    return written;
  }

  async #list({ method, era, params }: PlainRequest): Promise<object> {
    const { surface, tenant, hearsChanges = false } = this.#parts;
    const capabilities = capabilitiesOf(hearsChanges && (this.#lasts || era === 'modern'));
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: params.protocolVersion,
          capabilities,
          serverInfo: this.#server,
          instructions,
        };
      case 'server/discover':
        return { supportedVersions: [modernRevision], capabilities, instructions };
      case 'tools/list':
        return { tools: surface.list };
      case 'resources/list':
        return (await import('./resources.ts')).listResources(surface);
      case 'resources/templates/list':
        return (await import('./resources.ts')).listTemplates(tenant);
      case 'prompts/list':
        return (await import('./prompts.ts')).listPrompts(tenant);
      default:
        return {};
    }
  }

  /** The newer era says with every result that it is one, from whom, and how long a list holds. */
  #worded({ era, method }: PlainRequest, result: object): object {
    if (era === 'legacy') return result;
    const holds = method === 'tools/call' ? {} : longLived;
    const _meta = { [metaKeys.server]: this.#server };
    return { ...result, resultType: 'complete', ...holds, _meta };
  }
}

function callOf(
  { client, progressToken }: Omit<PlainRequest, 'params'>,
  answering: Answering,
  trace: Trace | undefined,
): ToolCall {
  const asking = client ?? answering.client;
  const tell = (params: Row) => answering.notify('notifications/progress', params);
  return {
    signal: answering.signal,
    deadline: Date.now() + callMs,
    progress: progressToken === undefined ? () => {} : progressTo(tell, progressToken),
    client: asking ? visible(`${asking.name} ${asking.version}`).slice(0, 120) : 'unknown host',
    trace,
    consent: () => Promise.reject(new Error('a tool that only reads wanted to write')),
  };
}
