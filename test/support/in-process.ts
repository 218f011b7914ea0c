import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import { anyHttpHost, type Connection, type Host, type ServerSettings } from './hosts.ts';
import type { Address } from './sandbox.ts';
import { newFolder, shared } from './shared.ts';

/** The built module for programs that embed the server. */
export async function shipped(): Promise<typeof import('../../src/index.ts')> {
  if (inject('buildError') !== '') throw new Error(inject('buildError'));
  return import(pathToFileURL(join(dirname(inject('bundle')), 'index.js')).href);
}

/** A server of its own state over HTTP in this process, for tests that depend on no transport. */
export const inProcess: Pick<Host, 'start' | 'serving'> = {
  start,
  serving: (address, settings) => shared(async () => start(await address(), settings)),
};

function start(address: Address | 'embedded', settings: ServerSettings = {}): Promise<Connection> {
  const env = { CPQ_STATE_DIR: newFolder(), ...settings.env };
  return anyHttpHost.start(address, { ...settings, env });
}
