import { randomUUID } from 'node:crypto';
import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  McpServer,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';

type Row = Record<string, unknown>;

/**
 * Questions of the older era, over HTTP without sessions: the question goes out on the stream of the call
 * that asks, and the answer comes back as a request of its own, to a server that never asked. So who asked
 * what is kept here. The product asks nobody in that era over HTTP; the suite's fixture tools have to.
 */
export class OlderQuestions {
  readonly #asked = new Map<unknown, (answer: Row) => void>();

  /** Asks the client of this call. @returns its result, or its error */
  ask(transport: Transport, ctx: ServerContext, method: string, params: Row): Promise<Row> {
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      this.#asked.set(id, resolve);
      const related = { relatedRequestId: ctx.mcpReq.id };
      transport.send({ jsonrpc: '2.0', id, method, params }, related).catch(reject);
    });
  }

  /** @returns whether the message was the answer to one of them */
  takes(message: unknown): boolean {
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return false;
    const resolve = this.#asked.get(message.id);
    if (!resolve || !this.#asked.delete(message.id)) return false;
    resolve('result' in message ? message.result : { error: message.error });
    return true;
  }
}

/** A server whose clients' answers may belong to another one. */
export class AskingServer extends McpServer {
  readonly #questions: OlderQuestions;

  constructor(questions: OlderQuestions, ...rest: ConstructorParameters<typeof McpServer>) {
    super(...rest);
    this.#questions = questions;
  }

  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport);
    const usual = transport.onmessage;
    transport.onmessage = (message, extra) => {
      if (!this.#questions.takes(message)) usual?.(message, extra);
    };
  }

  /** @throws before it is connected, when there is nobody to ask */
  ask(ctx: ServerContext, method: string, params: Row): Promise<Row> {
    const { transport } = this.server;
    if (!transport) throw new Error('nobody is connected');
    return this.#questions.ask(transport, ctx, method, params);
  }
}
