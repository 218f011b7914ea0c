import { receivesWebhooks, type Settings, toolSelectionOf } from '../config.ts';
import type { ServerDescription } from '../mcp/server-description.ts';
import { createSurface } from '../mcp/surface.ts';
import { version } from '../version.ts';

interface DescriptionOptions {
  /** The tools of the caller's access token; default all. */
  tools?: ReadonlySet<string> | undefined;
  /** True if callers bring their own keys. */
  ownKey?: boolean | undefined;
}

/** Describes the server of a tenant with these settings. */
export const describeServer = (
  settings: Settings,
  { tools, ownKey = false }: DescriptionOptions = {},
): ServerDescription => ({
  version,
  grants: settings.grants,
  surface: createSurface(settings.grants, toolSelectionOf(settings), tools),
  isMadeUp: settings.sandbox,
  // Webhooks belong to the operator: callers with their own keys receive no updates from them.
  receivesUpdates: !ownKey && (receivesWebhooks(settings) || settings.redisUrl !== undefined),
});
