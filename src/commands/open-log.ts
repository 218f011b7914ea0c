import { type Settings, settingWarnings } from '../config.ts';
import { createLog, type Log } from '../log.ts';

/** The log of a command, which begins with warnings about its settings. `context`: facts added to every line. */
export function openLog(settings: Settings, context?: () => object | undefined): Log {
  const log = createLog(settings.logLevel, context);
  for (const warning of settingWarnings(process.env)) log.warn('settings', { warning });
  return log;
}
