import { readSettings } from '../config.ts';
import type { LineEndpoint } from '../hosts/endpoint.ts';
import { serveStdio } from '../hosts/stdio.ts';
import { factsOf } from '../log.ts';
import { describeServer, openLog, resolveAddress } from './start.ts';
import type { openTenant } from './tenant-handle.ts';

/** Serves one client over stdin and stdout. The tenant is opened by the first call: hosts wait for lists at their start. */
export async function stdio(argv: readonly string[]): Promise<void> {
  const settings = readSettings(argv, process.env);
  const address = await resolveAddress(settings);
  const log = openLog(settings);
  let opening: ReturnType<typeof openTenant> | undefined;
  const open = () => {
    opening ??= import('./tenant-handle.ts').then((it) => it.openTenant(settings, address, log));
    return opening;
  };
  // Redis may refuse the password, and the file of fields may be wrong.
  if (settings.redisUrl || settings.fieldsFile) await open();
  const endpoint: LineEndpoint = {
    description: describeServer(settings),
    callParts: async () => (await open()).parts,
    server: async () => (await open()).server(),
  };
  const onError = (error: Error) => log.warn('protocol', factsOf(error));
  await serveStdio(endpoint, { fastPath: settings.fastPath === 'on', onError });
  await ((await opening) ?? address).close();
}
