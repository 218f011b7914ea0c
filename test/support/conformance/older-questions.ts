import { randomUUID } from 'node:crypto';
import {
  isJSONRPCErrorResponse,
  isJSONRPCResultResponse,
  McpServer,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import type { Row } from '../hosts.ts';

/**
 * Elicitation in the legacy era over HTTP without sessions: the question is sent on the stream of the call, and the
 * answer arrives as a separate request at another server instance. So pending questions are kept here. The product
 * does not ask in that era over HTTP; the fixture tools of the suite must.
 */
export class OlderQuestions {
  readonly #asked = new Map<unknown, (answer: Row) => void>();

  /** Asks the client of this call. @returns its result @throws its error */
  ask(transport: Transport, ctx: ServerContext, method: string, params: Row): Promise<Row> {
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      this.#asked.set(id, resolve);
      const related = { relatedRequestId: ctx.mcpReq.id };
      transport.send({ jsonrpc: '2.0', id, method, params }, related).catch(reject);
    });
  }

  /** @returns whether the message answers one of the questions */
  takes(message: unknown): boolean {
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return false;
    const resolve = this.#asked.get(message.id);
    if (!resolve || !this.#asked.delete(message.id)) return false;
    resolve('result' in message ? message.result : { error: message.error });
    return true;
  }
}

/** A server that may receive answers to the questions of another instance. */
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

  /** @throws if it is not connected */
  ask(ctx: ServerContext, method: string, params: Row): Promise<Row> {
    const { transport } = this.server;
    if (!transport) throw new Error('nobody is connected');
    return this.#questions.ask(transport, ctx, method, params);
  }
}
