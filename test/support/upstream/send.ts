import { once } from 'node:events';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { Message } from './answer.ts';
import type { Active, Cut, Trickle, UpstreamRequest } from './behaviour.ts';
import { pieces } from './bodies.ts';

export interface Exchange {
  request: UpstreamRequest;
  on: Active;
  response: ServerResponse;
  socket: Socket;
  /** Aborted when the connection is closed or the answer is finished. */
  over: AbortSignal;
}

/** Long enough for the client to read what was written, which a reset would discard. */
const readTime = 15;

const pause = async ({ over }: Exchange, ms: number | undefined): Promise<void> => {
  if (ms !== undefined) await wait(ms, undefined, { signal: over });
};

/** Ends the connection, or leaves it open forever. */
export async function sever(exchange: Exchange, how: Cut['how']): Promise<void> {
  const { request, socket } = exchange;
  if (how === 'hang') return;
  request.outcome = 'cut';
  if (how === 'close') socket.destroySoon();
  else socket.resetAndDestroy();
}

function headText({ status, headers }: Message): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('')}`;
}

async function sendHalfHead(exchange: Exchange, message: Message, how: Cut['how']): Promise<void> {
  const head = headText(message);
  exchange.socket.write(head.slice(0, Math.floor(head.length * 0.7)));
  await pause(exchange, readTime);
  await sever(exchange, how);
}

async function sendHalfBody(exchange: Exchange, body: Buffer, how: Cut['how']): Promise<void> {
  const half = body.subarray(0, Math.floor(body.length / 2));
  await new Promise<void>((resolve) => {
    exchange.response.write(half, () => resolve());
  });
  await pause(exchange, readTime);
  await sever(exchange, how);
}

function sendRaw({ request, socket }: Exchange, raw: string): void {
  request.outcome = 'answered';
  socket.write(raw);
  socket.destroySoon();
}

/** Sends header lines slowly; then, unless they never end, the rest of the answer. */
async function dripHead(exchange: Exchange, message: Message, trickle: Trickle): Promise<void> {
  const { request, socket } = exchange;
  const line = `x-drip: ${'.'.repeat(Math.max(1, trickle.bytes))}\r\n`;
  socket.write(headText(message));
  for (let sent = 0; sent < (trickle.total ?? Number.POSITIVE_INFINITY); sent += trickle.bytes) {
    await pause(exchange, trickle.everyMs);
    socket.write(line);
  }
  request.outcome = 'answered';
  socket.write(`content-length: ${message.body.length}\r\nconnection: close\r\n\r\n`);
  socket.write(message.body);
  socket.destroySoon();
}

/** Sends blanks forever, or the first bytes of the body slowly. @returns the rest of the body */
async function drip(exchange: Exchange, body: Buffer, trickle: Trickle): Promise<Buffer> {
  const { response } = exchange;
  const { bytes, everyMs, total } = trickle;
  const slow = Math.min(total ?? Number.POSITIVE_INFINITY, body.length);
  for (let sent = 0; total === undefined || sent < slow; sent += bytes) {
    await pause(exchange, everyMs);
    const end = Math.min(sent + bytes, slow);
    response.write(total === undefined ? ' '.repeat(bytes) : body.subarray(sent, end));
  }
  return body.subarray(slow);
}

async function sendPieces(exchange: Exchange, body: Buffer): Promise<void> {
  const { on, response, over } = exchange;
  for (const piece of pieces(body, on.chunks ?? 'characters')) {
    if (!response.write(piece)) await once(response, 'drain', { signal: over });
    await turn(undefined, { signal: over });
  }
}

const recased: Record<'upper' | 'title', (name: string) => string> = {
  upper: (name) => name.toUpperCase(),
  title: (name) => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()),
};

function framed({ status, headers, body }: Message, on: Active): Record<string, string> {
  const { 'content-type': type = '', ...rest } = headers;
  if (status === 204) return rest;
  const endless = on.trickle?.part === 'body' && on.trickle.total === undefined;
  const length = { 'content-length': String(body.length) };
  return { 'content-type': type, ...rest, ...(on.chunks === undefined && !endless && length) };
}

function sendHead({ on, response }: Exchange, message: Message): void {
  const rename = on.headerCase === undefined ? String : recased[on.headerCase];
  const lines = Object.entries(framed(message, on)).map(([name, value]) => [rename(name), value]);
  response.writeHead(message.status, Object.fromEntries(lines));
  if (on.delayBody !== undefined || on.trickle || on.cut) response.flushHeaders();
}

/** Sends the answer with the faults of the switches. */
export async function send(exchange: Exchange, message: Message): Promise<void> {
  const { request, on, response } = exchange;
  await pause(exchange, on.delayHeaders);
  request.status = message.status;
  if (on.cut?.at === 'start') return sever(exchange, on.cut.how);
  if (on.raw !== undefined) return sendRaw(exchange, on.raw);
  if (on.cut?.at === 'headers') return sendHalfHead(exchange, message, on.cut.how);
  if (on.trickle?.part === 'headers') return dripHead(exchange, message, on.trickle);
  sendHead(exchange, message);
  await pause(exchange, on.delayBody);
  if (on.cut) return sendHalfBody(exchange, message.body, on.cut.how);
  const rest = on.trickle ? await drip(exchange, message.body, on.trickle) : message.body;
  if (on.chunks !== undefined) await sendPieces(exchange, rest);
  response.end(on.chunks === undefined ? rest : undefined);
}
