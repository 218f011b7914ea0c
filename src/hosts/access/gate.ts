import type { IncomingMessage } from 'node:http';
import type { Grant } from '../../tenant/grants.ts';
import type { SdkEndpoint, TenantEndpoint } from '../endpoint.ts';
import type { GuessLimiter } from './guess-limiter.ts';
import { HttpError, isGuess } from './http-error.ts';
import type { ServedTenant } from './tenant-registry.ts';

/** Somebody who was let in, and what is served to them. */
export interface Session {
  endpoint: TenantEndpoint | SdkEndpoint;
  /** What the tenant is called here; absent where only one is served, to everybody. */
  tenant?: string;
  /** Who calls, by a name that is no secret; absent where nobody is asked. */
  caller?: string;
  /** What would have to be shown to use this tool, where the tenant has it and this caller may not. */
  challenge?(tool: string): HttpError | undefined;
}

/** Decides who is let in. */
export interface Gate {
  /** @throws Denied */
  admit(request: IncomingMessage): Promise<Session>;
  /** What anybody may read at this path, to learn how to be let in. */
  metadata?(path: string): object | undefined;
}

/** Lets everybody in who reaches it. */
export const openGate = (endpoint: TenantEndpoint | SdkEndpoint): Gate => ({
  admit: async () => ({ endpoint }),
});

/** What a caller has shown to be. */
export interface Principal {
  caller: string;
  tenant: ServedTenant;
  /** What the caller may do at most; the operator's grants narrow it further. */
  grants: ReadonlySet<Grant>;
  challenge?(needs: readonly Grant[]): HttpError;
}

/** One way in which callers show who they are. */
export interface AuthStrategy {
  /**
   * Who calls; nothing where the request shows nothing of this kind. `sender`: the address or network that
   * it comes from.
   * @throws Denied for what is shown and is not right
   */
  authenticate(request: IncomingMessage, sender: string): Promise<Principal | undefined>;
  /** How to ask for it, as `WWW-Authenticate` says it. */
  readonly wwwAuthenticate: string;
  metadata?(path: string): object | undefined;
}

export interface GateOptions {
  strategies: readonly AuthStrategy[];
  guesses: GuessLimiter;
}

/** Lets in whoever one of the ways recognises. */
export function gate({ strategies, guesses }: GateOptions): Gate {
  const wwwAuthenticate = {
    'www-authenticate': strategies.map((strategy) => strategy.wwwAuthenticate).join(', '),
  };
  return {
    async admit(request) {
      const sender = guesses.senderOf(request);
      guesses.check(sender);
      try {
        return toSession(
          (await authenticate(strategies, request, sender)) ??
            rejectUnknown(request, wwwAuthenticate),
        );
      } catch (error) {
        if (isGuess(error)) guesses.count(sender);
        throw error;
      }
    },
    metadata(path) {
      return strategies
        .map((strategy) => strategy.metadata?.(path))
        .find((found) => found !== undefined);
    },
  };
}

async function authenticate(
  strategies: readonly AuthStrategy[],
  request: IncomingMessage,
  sender: string,
): Promise<Principal | undefined> {
  for (const strategy of strategies) {
    const found = await strategy.authenticate(request, sender);
    if (found) return found;
  }
  return undefined;
}

/** Whoever shows something that none of the ways knows may be guessing, too. */
function rejectUnknown(request: IncomingMessage, headers: Record<string, string>): never {
  const guessed = request.headers.authorization !== undefined;
  throw new HttpError(401, 'This server needs to know who is calling.', {
    headers,
    countsAsFailure: guessed,
  });
}

function toSession({ caller, tenant, grants, challenge }: Principal): Session {
  const endpoint = tenant.endpointFor(grants);
  const session = { endpoint, caller, tenant: tenant.name };
  if (!challenge) return session;
  return {
    ...session,
    challenge(tool) {
      if (endpoint.parts.surface.find(tool)) return undefined;
      const needs = tenant.endpointFor(tenant.grants).parts.surface.find(tool)?.needs;
      return needs && challenge(needs);
    },
  };
}
