import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { inject } from 'vitest';
import type { CpqServer } from '../../src/index.ts';
import { type ClientOptions, connectClient } from './clients.ts';
import { closing } from './shared.ts';

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
