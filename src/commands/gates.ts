import { join } from 'node:path';
import { type AuthWay, ConfigError, type Settings } from '../config.ts';
import { type Gate, gate, type Way } from '../hosts/access/gate.ts';
import type { Guesses } from '../hosts/access/guesses.ts';
import { oauth } from '../hosts/access/oauth.ts';
import { ownKey, type Reach } from '../hosts/access/own-key.ts';
import { ownTokens } from '../hosts/access/own-tokens.ts';
import { TokenFileError } from '../hosts/access/token-file.ts';
import { factsOf } from '../log.ts';
import { usualStateFolder } from '../state/folder.ts';
import type { Common } from './common.ts';
import { TenantHandle } from './tenant-handle.ts';
import type { Tenants } from './tenants.ts';

/**
 * Lets in whoever shows what the settings ask for.
 * @throws ConfigError when a setting that one of the ways needs is missing or wrong
 */
export async function gateFor(
  settings: Settings,
  tenants: Tenants,
  common: Common,
  guesses: Guesses,
): Promise<Gate> {
  const ways = [...settings.auth].map((way) => makers[way](settings, tenants, common));
  return gate({ ways: await Promise.all(ways), guesses });
}

type Maker = (settings: Settings, tenants: Tenants, common: Common) => Way | Promise<Way>;

const makers: Readonly<Record<AuthWay, Maker>> = {
  token: async (settings, doors, { log }) => {
    const onError = (error: unknown) => log.error('tokens not read again', factsOf(error));
    return ownTokens({ path: tokensPath(settings), doors, onError }).catch((error: unknown) => {
      throw error instanceof TokenFileError ? new ConfigError(error.message) : error;
    });
  },
  oauth: (settings, tenants, { log }) => {
    const { oauthIssuer: issuer, publicUrl: resource } = settings;
    if (issuer === undefined) {
      throw new ConfigError('CPQ_AUTH=oauth needs CPQ_OAUTH_ISSUER: whose tokens are taken');
    }
    if (resource === undefined) {
      throw new ConfigError('CPQ_AUTH=oauth needs CPQ_PUBLIC_URL: whom the tokens must be for');
    }
    return oauth({
      issuer,
      resource,
      audience: settings.oauthAudience,
      jwksUrl: settings.oauthJwksUrl,
      tenantClaim: settings.oauthTenantClaim,
      scopePrefix: settings.oauthScopePrefix,
      grants: () => ['read', ...new Set(tenants.doors.flatMap(({ grants }) => writesOf(grants)))],
      doors: tenants,
      onError: (error) => log.warn('identity provider cannot be asked', factsOf(error)),
    });
  },
  key: (settings, _, common) => {
    const { allowPrivate, keyBaseUrls: baseUrls } = settings;
    const open = (baseUrl: URL, key: string, limits: Reach) => {
      const address = { baseUrl, key, close: async () => {} };
      const more = { limits, ownKey: true };
      return new TenantHandle('key', withoutEvents(settings), address, common, more);
    };
    return ownKey({ baseUrls, allowPrivate, rates: common.state.rates, open });
  },
};

/**
 * What was received of a tenant was received for the operator's key: no other key says which of it its
 * owner may see.
 */
function withoutEvents(settings: Settings): Settings {
  const { toolsets } = settings;
  const others = toolsets && new Set([...toolsets].filter((name) => name !== 'events'));
  const webhooks = { webhookSecret: undefined, webhookSigningSecret: undefined };
  return { ...settings, ...webhooks, toolsets: others };
}

const writesOf = (grants: ReadonlySet<string>): string[] =>
  [...grants].filter((grant) => grant.endsWith(':write'));

/** Where the server's own tokens are kept. */
export const tokensPath = ({ tokensFile, stateDir }: Settings): string =>
  tokensFile ?? join(stateDir ?? usualStateFolder(process.env), 'tokens.json');
