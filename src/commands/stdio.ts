import { readSettings } from '../config.ts';
import { serveStdio } from '../hosts/stdio.ts';
import { factsOf } from '../log.ts';
import { openTenant } from './open.ts';

/** Serves one client over stdin and stdout. */
export async function stdio(argv: readonly string[]): Promise<void> {
  const settings = readSettings(argv, process.env);
  const opened = await openTenant(settings);
  const onError = (error: Error) => opened.log.warn('protocol', factsOf(error));
  await serveStdio(opened, { fastPath: settings.fastPath === 'on', onError });
  await opened.close();
}
