import { type Settings, takesWebhooks, toolsetsOf } from '../config.ts';
import type { OpenedDoor } from '../hosts/access/own-key.ts';
import type { TenantObserver } from '../hosts/observing.ts';
import type { Served } from '../hosts/served.ts';
import type { WebhookTenant } from '../hosts/webhooks.ts';
import { factsOf } from '../log.ts';
import { followMoved } from '../mcp/moved.ts';
import { surfaceOf } from '../mcp/surface.ts';
import { callMs } from '../mcp/tool-run.ts';
import { watchingStages } from '../tenant/changes/unknown-stages.ts';
import { usualFreshness } from '../tenant/collections.ts';
import { type Grant, narrowed } from '../tenant/grants.ts';
import { Tenant, type TenantOptions } from '../tenant/tenant.ts';
import { version } from '../version.ts';
import type { Address } from './address.ts';
import type { Common } from './common.ts';

/** What one tenant is called that nobody gave a name. */
export const usualName = 'default';

/** The way in to one tenant, for everybody who may use it. */
export class TenantHandle implements OpenedDoor {
  readonly name: string;
  readonly tenant: Tenant;
  /** Where its webhooks come in, if any are taken. */
  readonly webhooks: WebhookTenant | undefined;
  readonly #settings: Settings;
  readonly #common: Common;
  readonly #address: Address;
  /** By what may be done; there are as many as there are kinds of callers. */
  readonly #served = new Map<string, Served>();
  readonly #observer: TenantObserver | undefined;
  readonly #hearsChanges: boolean;
  readonly #retired = new AbortController();
  readonly #forget: () => void;

  constructor(
    name: string,
    settings: Settings,
    address: Address,
    common: Common,
    more: Pick<TenantOptions, 'name' | 'limits' | 'ownKey'> = {},
  ) {
    this.name = name;
    this.#forget = common.secrets.hold([address.key, ...ofWebhooks(settings)]);
    this.#observer = common.observer?.(name);
    const watched = this.#observer && { observer: this.#observer };
    const onCollection = watchingStages(settings.barredStages, (found) =>
      common.log.warn('barred stages that no opportunity is in', { tenant: name, ...found }),
    );
    const options = { ...tenantOptions(settings, address, common), ...more, ...watched };
    this.tenant = new Tenant({ ...options, onCollection });
    // Deliveries are the operator's: a caller's own key hears of none.
    this.#hearsChanges =
      !more.ownKey && (takesWebhooks(settings) || settings.redisUrl !== undefined);
    this.webhooks = takesWebhooks(settings) ? webhooksOf(this.tenant, settings) : undefined;
    this.#settings = settings;
    this.#common = common;
    this.#address = address;
  }

  get grants(): ReadonlySet<Grant> {
    return this.tenant.grants;
  }

  served(grants: ReadonlySet<Grant>): Served {
    const both = narrowed(this.grants, grants);
    const name = [...both].sort().join(' ');
    const served = this.#served.get(name) ?? this.#serve(both);
    this.#served.set(name, served);
    return served;
  }

  retire(): void {
    this.#retired.abort();
    // A call may have waited for its turn before it began.
    const end = setTimeout(() => this.close().catch(this.#failed), callMs + 40_000);
    end.unref();
  }

  async close(): Promise<void> {
    this.#retired.abort();
    await this.tenant.close();
    await this.#address.close();
    this.#forget();
  }

  readonly #failed = (error: unknown): void => {
    this.#common.log.warn('not closed', { tenant: this.name, ...factsOf(error) });
  };

  #serve(grants: ReadonlySet<Grant>): Served {
    const settings = { ...this.#settings, grants };
    const { log } = this.#common;
    const tenant = grants.size === this.grants.size ? this.tenant : this.tenant.narrowedTo(grants);
    const parts = {
      surface: surfaceOf(grants, toolsetsOf(settings)),
      tenant,
      version,
      log: {
        failed: (tool: string, error: unknown) =>
          log.error('call failed', { tool, ...factsOf(error) }),
      },
      ...(this.#observer && { observer: this.#observer }),
      allowTokens: settings.consent === 'token',
      hearsChanges: this.#hearsChanges,
    };
    return {
      parts,
      retired: this.#retired.signal,
      server: async (connection) =>
        (await import('../mcp/server.ts')).createServer(parts, connection),
      followMoved: (listener) => followMoved(tenant, listener),
    };
  }
}

function tenantOptions(
  settings: Settings,
  { baseUrl, key }: Address,
  { state, cache }: Common,
): TenantOptions {
  return {
    baseUrl,
    key,
    pageParam: settings.pageParam,
    state,
    writing: {
      perHour: settings.writesPerHour,
      fields: settings.writeFields,
      barredStages: settings.barredStages,
    },
    budget: { requests: settings.rateLimit, windowSeconds: 600 },
    grants: settings.grants,
    cache,
    freshness: { ...usualFreshness, freshMs: settings.freshSeconds * 1000 },
  };
}

const ofWebhooks = ({ webhookSecret, webhookSigningSecret }: Settings): string[] =>
  [webhookSecret, webhookSigningSecret].filter((secret) => secret !== undefined);

function webhooksOf(tenant: Tenant, settings: Settings): WebhookTenant {
  const { webhookSecret: secret, webhookSigningSecret: signingSecret } = settings;
  const receive = async (body: string) =>
    (await import('../tenant/events/receive.ts')).receiveEvent(tenant, body);
  return { secret, signingSecret, receive };
}
