import { join } from 'node:path';
import {
  type AuthStrategyName,
  environmentName,
  type SettingName,
  type Settings,
} from '../config/settings.ts';
import { ConfigError, parseAs } from '../config.ts';
import { accessTokenStrategy, TokenFileError } from '../hosts/access/access-tokens.ts';
import { apiKeyStrategy, type ConnectLimits } from '../hosts/access/api-key.ts';
import { type AuthStrategy, type Gate, type GuessLimiter, gate } from '../hosts/access/gate.ts';
import { parseNetworks } from '../hosts/access/networks.ts';
import { oauthStrategy } from '../hosts/access/oauth.ts';
import { factsOf } from '../log.ts';
import { toolsIn } from '../mcp/surface.ts';
import { defaultStateFolder } from '../state/files/state-folder.ts';
import { writeGrant } from '../tenant/grants.ts';
import { errorCode } from '../values.ts';
import { openHandle, type SharedServices } from './tenant-handle.ts';
import type { ConfiguredTenants } from './tenants.ts';

/** The settings that a strategy cannot do without. @throws ConfigError when one is missing */
const needs = {
  token: () => ({}),
  oauth({ oauthIssuer: issuer, publicUrl: resource }: Settings) {
    if (issuer === undefined) throw missingFor('oauth', 'oauthIssuer');
    if (resource === undefined) throw missingFor('oauth', 'publicUrl');
    return { issuer, resource };
  },
  key({ keyBaseUrls: baseUrls }: Settings) {
    if (baseUrls.length === 0) throw missingFor('key', 'keyBaseUrls');
    return { baseUrls };
  },
} as const satisfies Record<AuthStrategyName, (settings: Settings) => object>;

/** @throws ConfigError for settings with which no caller could be authenticated */
export function requireAccess(settings: Settings): void {
  const { auth, trustedProxies } = settings;
  for (const name of auth) needs[name](settings);
  parseAs(environmentName('trustedProxies'), () => parseNetworks(trustedProxies));
}

/** @throws ConfigError when a setting of a strategy is missing or invalid */
export async function gateFor(
  settings: Settings,
  tenants: ConfiguredTenants,
  common: SharedServices,
  guesses: GuessLimiter,
): Promise<Gate> {
  const { log, state } = common;
  const create: Readonly<Record<AuthStrategyName, () => AuthStrategy | Promise<AuthStrategy>>> = {
    token() {
      const path = tokensPath(settings, process.env);
      const onError = (error: unknown) => log.error('tokens not reloaded', factsOf(error));
      return accessTokenStrategy({ path, tenants, onError }).catch((error: unknown) => {
        throw error instanceof TokenFileError ? new ConfigError(error.message) : error;
      });
    },
    oauth() {
      const mayWrite = () => tenants.handles.some(({ grants }) => grants.has(writeGrant));
      return oauthStrategy({
        ...needs.oauth(settings),
        audience: settings.oauthAudience,
        tenantClaim: settings.oauthTenantClaim ?? (settings.tenantsFile && 'tenant'),
        scopePrefix: settings.oauthScopePrefix,
        grants: () => (mayWrite() ? ['read', writeGrant] : ['read']),
        tenants,
        // The names of the library's classes are shortened in the bundle.
        onError(error) {
          const facts = { ...factsOf(error), error: errorCode(error) ?? 'Error' };
          log.warn('identity provider unavailable', facts);
        },
      });
    },
    key() {
      const { allowPrivate } = settings;
      const open = (baseUrl: URL, key: string, limits: ConnectLimits) => {
        const more = { limits, stateByKey: true };
        return openHandle('key', withoutEvents(settings), { baseUrl, key }, common, more);
      };
      return apiKeyStrategy({ ...needs.key(settings), allowPrivate, rates: state.rates, open });
    },
  };
  return gate(await Promise.all([...settings.auth].map((name) => create[name]())), guesses);
}

const missingFor = (auth: AuthStrategyName, name: SettingName): ConfigError =>
  new ConfigError(
    `${environmentName('auth')}=${auth} needs ${environmentName(name)}, see http --help`,
  );

/** A caller's own key does not show which events, received for the operator, its owner may see. */
function withoutEvents(settings: Settings): Settings {
  const toolsets = settings.toolsets && without(settings.toolsets, ['events']);
  const tools = settings.tools && without(settings.tools, toolsIn('events'));
  return { ...settings, webhookSecret: undefined, redisUrl: undefined, toolsets, tools };
}

const without = <T extends string>(
  names: ReadonlySet<T>,
  removed: readonly NoInfer<T>[],
): ReadonlySet<T> => new Set([...names].filter((name) => !removed.includes(name)));

export const tokensPath = ({ tokensFile, stateDir }: Settings, env: NodeJS.ProcessEnv): string =>
  tokensFile ?? join(stateDir ?? defaultStateFolder(env), 'tokens.json');
