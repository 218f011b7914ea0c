import { readSettings } from '../config.ts';
import { serveStdio } from '../hosts/stdio.ts';
import { factsOf } from '../log.ts';
import { openTenant } from './open.ts';

/** Serves one person over stdin and stdout. */
export async function stdio(argv: readonly string[]): Promise<void> {
  const opened = await openTenant(readSettings(argv, process.env));
  await serveStdio(opened, (error) => opened.log.warn('protocol', factsOf(error)));
  await opened.close();
}
