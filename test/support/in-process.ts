import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import type { CpqGrant, CpqServer, CpqToolset } from '../../src/index.ts';
import { connect } from './clients.ts';
import { type Connection, createConnection, type Host, type ServerSettings } from './hosts.ts';
import { type Running, recordingOf } from './process.ts';
import type { Address } from './sandbox.ts';
import { closing, newFolder, shared } from './shared.ts';

type Settings = Pick<ServerSettings, 'grants' | 'toolsets'>;

/** The built module for programs that embed the server. */
export async function shipped(): Promise<typeof import('../../src/index.ts')> {
  if (inject('buildError') !== '') throw new Error(inject('buildError'));
  return import(pathToFileURL(join(dirname(inject('bundle')), 'index.js')).href);
}

/**
 * The built server inside this process, over HTTP, for tests that depend on neither transport nor other settings: it
 * takes half of the processor time of a process. Errors name options, such as `apiKey`.
 */
export const inProcess = {
  start,
  serving: (address: () => Promise<Address> | Address | 'embedded', settings?: Settings) =>
    shared(async () => start(await address(), settings)),
} satisfies Record<keyof Pick<Host, 'start' | 'serving'>, unknown>;

async function start(
  address: Address | 'embedded',
  { grants = 'read', toolsets }: Settings = {},
): Promise<Connection> {
  const { createCpqServer } = await shipped();
  const { baseUrl, key } = address === 'embedded' ? {} : address;
  const cpq = await createCpqServer({
    ...{ baseUrl, apiKey: key, sandbox: address === 'embedded' },
    ...{ stateDir: newFolder(), logLevel: 'silent' },
    grants: grants.split(',') as CpqGrant[],
    toolsets: toolsets?.split(',') as CpqToolset[] | undefined,
    // As of processes: for tests that read a tenant many times, and services whose data change.
    ...{ rateLimit: 1_000_000, keepCollections: 'off' },
  });
  closing(cpq);
  const server = createServer((request, response) => void pass(request, response, cpq));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const output = recordingOf(['in process'], { CPQ_API_KEY: key });
  // Over HTTP a client uses nothing else of a process.
  const running = { output, stop: async () => ({}) } as Partial<Running> as Running;
  closing({ close: async () => server.close().closeAllConnections() });
  return createConnection(await connect('modern', { running, url }), running, url);
}

async function pass(request: IncomingMessage, response: ServerResponse, cpq: CpqServer) {
  const { method = 'GET', headers, url = '/' } = request;
  const body = Buffer.concat(await request.toArray());
  const passed = new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, `${value}`]),
    body: method === 'POST' ? body : null,
  });
  const answer = await cpq.fetch(passed);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body) await pipeline(Readable.fromWeb(answer.body as never), response);
  else response.end();
}
