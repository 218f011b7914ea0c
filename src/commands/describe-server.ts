import { receivesWebhooks, type Settings, toolSelectionOf } from '../config.ts';
import type { ServerDescription } from '../mcp/surface.ts';
import { createSurface } from '../mcp/surface.ts';
import { version } from '../version.ts';

/**
 * Describes the server of a tenant with these settings.
 * @param tools the tools of the caller's access token; default all
 */
export const describeServer = (
  settings: Settings,
  tools?: ReadonlySet<string>,
): ServerDescription => ({
  version,
  grants: settings.grants,
  surface: createSurface(settings.grants, toolSelectionOf(settings), tools),
  isMadeUp: settings.sandbox,
  receivesUpdates: receivesWebhooks(settings) || settings.redisUrl !== undefined,
});
