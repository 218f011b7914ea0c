import { readSettings } from '../config.ts';
import type { LineEndpoint } from '../hosts/endpoint.ts';
import { serveStdio } from '../hosts/stdio.ts';
import { factsOf } from '../log.ts';
import { type CommandContext, describeServer, openLog, resolveAddress } from './start.ts';
import type { openTenant } from './tenant-handle.ts';

/** Serves one client over stdin and stdout. The tenant is opened by the first call: hosts wait for lists at their start. */
export async function stdio(argv: readonly string[], context: CommandContext): Promise<void> {
  const settings = readSettings(argv, context.env);
  const address = await resolveAddress(settings);
  const log = openLog(settings, context);
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
  const options = { fastPath: settings.fastPath === 'on', onError };
  try {
    await serveStdio(endpoint, options, { ...context, stdin: context.stdin() });
  } finally {
    await ((await opening) ?? address).close?.();
  }
}
