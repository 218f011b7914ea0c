import type { Settings } from './context.ts';
import { invalid, Refusal } from './errors.ts';
import { isObject, type Json } from './json.ts';
import type { RateLimit, RollingWindow } from './limits.ts';
import type { RequestLog } from './log.ts';
import type { Reply } from './route.ts';
import { answerWebhooks, type WebhookService } from './webhooks-admin.ts';

interface AdminService extends WebhookService {
  key: string;
  settings: Settings;
  log: RequestLog;
  limits: RollingWindow;
}

/**
 * Answers `GET log`, `POST reset-limits`, `POST settings` and the routes of webhooks.
 * @throws Refusal 403 for a wrong admin key, 404 for an unknown route, 400 for an invalid setting.
 */
export function answerAdmin(
  service: AdminService,
  method: string,
  path: string,
  key: string | undefined,
  body: Json | undefined,
): Reply {
  if (key !== service.key) throw new Refusal(403, 'Admin key not valid');
  switch (`${method} ${path}`) {
    case 'GET log':
      return reply(service.log.report());
    case 'POST reset-limits':
      service.limits.clear();
      return reply({ reset: true });
    case 'POST settings':
      Object.assign(service.settings, readSettings(body));
      return reply(service.settings);
    default: {
      const answer = answerWebhooks(service, method, path, body);
      if (answer) return answer;
      throw new Refusal(404, `Cannot ${method} /admin/${path}`);
    }
  }
}

const reply = (value: unknown): Reply => ({ status: 200, body: JSON.stringify(value) });

function readSettings(body: Json | undefined): Partial<Settings> {
  if (!isObject(body)) throw invalid('settings must be an object');
  for (const [name, value] of Object.entries(body)) {
    if (!checks.get(name)?.(value)) throw invalid(`settings: ${name} is not valid`);
  }
  return body;
}

type Check = (value: unknown) => boolean;

const checks = new Map<string, Check>(
  Object.entries({
    upsertOmitted: (value) => value === 'keep' || value === 'clear',
    rateLimit: (value) => value === false || isRateLimit(value),
    publicApi: (value) => typeof value === 'boolean',
  } satisfies Record<keyof Settings, Check>),
);

function isRateLimit(value: unknown): value is RateLimit {
  return isObject(value) && Number(value.requests) >= 0 && Number(value.windowSeconds) > 0;
}
