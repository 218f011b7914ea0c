import { type Settings, settingWarnings } from '../config.ts';
import { createLog, type Log } from '../log.ts';
import { Secrets } from './secrets.ts';

/** A log, and the secrets that are removed from its lines. */
export interface RedactedLog {
  log: Log;
  /** Removed from every log line. */
  secrets: Secrets;
}

/** `context`: facts added to every line when it is written. */
export function openLog(settings: Settings, context?: () => object | undefined): RedactedLog {
  const secrets = new Secrets();
  secrets.register(redisSecrets(settings));
  return { log: createLog(settings.logLevel, secrets, context), secrets };
}

export function logSettingWarnings(log: Log, argv: readonly string[]): void {
  for (const warning of settingWarnings(argv, process.env)) log.warn('settings', { warning });
}

function redisSecrets({ redisUrl }: Settings): string[] {
  const { password = '' } = redisUrl ?? {};
  return [password, decodeURIComponent(password)].filter((secret) => secret !== '');
}
