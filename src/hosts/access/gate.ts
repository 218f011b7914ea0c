import type { IncomingMessage } from 'node:http';
import { MemoryRates } from '../../state/memory-rates.ts';
import type { Grant } from '../../tenant/grants.ts';
import type { SdkEndpoint, TenantEndpoint } from '../endpoint.ts';
import { HttpError, isGuess } from './http-error.ts';
import { clientAddress, type Networks, networkOf } from './networks.ts';

/** An authenticated caller and the endpoint that serves it. */
export interface Session {
  endpoint: TenantEndpoint | SdkEndpoint;
  /** The operator's name of the tenant; absent on an unauthenticated server. */
  tenant?: string;
  /** A name of the caller that contains no secret; absent on an unauthenticated server. */
  caller?: string;
}

export interface Gate {
  /** @throws HttpError */
  admit(request: IncomingMessage): Promise<Session>;
  /** Public metadata at this path that describes how to authenticate. */
  metadata?(path: string): object | undefined;
}

/** Admits every request without authentication. */
export const openGate = (endpoint: () => Session['endpoint']): Gate => ({
  admit: async () => ({ endpoint: endpoint() }),
});

/** A tenant that callers can be served from. */
export interface ServedTenant {
  /** The operator's name of the tenant. */
  readonly name: string;
  /** The grants that the operator configured. */
  readonly grants: ReadonlySet<Grant>;
  /** The same object for the same arguments. @param tools the only tools that they may use; default all */
  endpointFor(grants: ReadonlySet<Grant>, tools?: ReadonlySet<string>): TenantEndpoint;
}

export interface TenantRegistry {
  /** The tenant of that name; without a name, the only tenant if there is exactly one. */
  find(name: string | undefined): ServedTenant | undefined;
}

interface Principal {
  caller: string;
  tenant: ServedTenant;
  /** The caller's own grants, which the tenant's grants may restrict further. */
  grants: ReadonlySet<Grant>;
  /** The only tools that the caller may use; default all. */
  tools?: ReadonlySet<string>;
}

export interface AuthStrategy {
  /** @returns undefined if the request has no credentials of this kind. @throws HttpError for invalid ones */
  authenticate(request: IncomingMessage, sender: string): Promise<Principal | undefined>;
  readonly wwwAuthenticate: string;
  metadata?(path: string): object | undefined;
}

/** Admits requests that one of the strategies authenticates. */
export function gate(strategies: readonly AuthStrategy[], guesses: GuessLimiter): Gate {
  const wwwAuthenticate = {
    'www-authenticate': strategies.map((strategy) => strategy.wwwAuthenticate).join(', '),
  };
  return {
    async admit(request) {
      const sender = guesses.senderOf(request);
      guesses.check(sender);
      try {
        for (const strategy of strategies) {
          const principal = await strategy.authenticate(request, sender);
          if (!principal) continue;
          const { caller, tenant, grants, tools } = principal;
          return { endpoint: tenant.endpointFor(grants, tools), caller, tenant: tenant.name };
        }
        // Credentials that no strategy recognises count as guesses.
        const countsAsFailure = request.headers.authorization !== undefined;
        const message = 'This server requires authentication.';
        throw new HttpError(401, message, { headers: wwwAuthenticate, countsAsFailure });
      } catch (error) {
        if (isGuess(error)) guesses.count(sender);
        throw error;
      }
    },
    metadata(path) {
      return strategies.map((strategy) => strategy.metadata?.(path)).find(Boolean);
    },
  };
}

const rule = { limit: 30, windowMs: 60_000, reserve: 0 };

export type GuessLimiter = ReturnType<typeof guessLimiter>;

/**
 * After too many wrong credentials in a minute, all requests of an address or IPv6 network are refused.
 * @param proxies whose X-Forwarded-For header is trusted
 */
export function guessLimiter(proxies: Networks) {
  const wrong = new MemoryRates();
  return {
    /** The address or IPv6 /64 network by which guesses are counted. */
    senderOf: (request: IncomingMessage): string => networkOf(clientAddress(request, proxies)),
    /** @throws HttpError (429) while this sender has to wait */
    check(sender: string): void {
      const { taken, waitMs } = wrong.evaluate(sender, rule, performance.now());
      if (taken) return;
      throw new HttpError(429, 'Too many wrong credentials', { retryAfter: waitMs / 1000 });
    },
    count: (sender: string): void => wrong.count(sender, rule, performance.now()),
  };
}
