import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { inject } from 'vitest';
import type { CpqServer } from '../../src/index.ts';
import { type ClientOptions, connectClient } from './clients.ts';
import { anyHttpHost, type Connection, type Host, type ServerSettings, serving } from './hosts.ts';
import type { Address } from './sandbox.ts';
import { closing, newFolder } from './shared.ts';

/** The built module for programs that embed the server. */
export async function shipped(): Promise<typeof import('../../src/index.ts')> {
  if (inject('buildError') !== '') throw new Error(inject('buildError'));
  return import(pathToFileURL(join(dirname(inject('bundle')), 'index.js')).href);
}

/** A client in memory of a server that a program embeds; of an older revision, as most hosts are, unless the options say another. */
export async function connectTo(
  cpq: Pick<CpqServer, 'connect'>,
  options: ClientOptions = {},
): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  cpq.connect(theirs);
  return closing(await connectClient(ours, { era: 'legacy', ...options }));
}

/** A server of its own state over HTTP in this process, for tests that depend on no transport. */
export const inProcess: Pick<Host, 'start' | 'serving'> = {
  start,
  serving: (address, settings) => serving(async () => start(await address(), settings)),
};

function start(address: Address | 'embedded', settings: ServerSettings = {}): Promise<Connection> {
  const env = { CPQ_STATE_DIR: newFolder(), ...settings.env };
  return anyHttpHost.start(address, { ...settings, env });
}
