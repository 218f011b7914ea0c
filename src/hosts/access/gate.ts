import type { IncomingMessage } from 'node:http';
import type { Grant } from '../../tenant/grants.ts';
import type { SdkServed, Served } from '../served.ts';
import { Denied, isGuess } from './denied.ts';
import type { Door } from './doors.ts';
import type { Guesses } from './guesses.ts';

/** Somebody who was let in, and what is served to them. */
export interface Admitted {
  served: Served | SdkServed;
  /** What the tenant is called here; absent where only one is served, to everybody. */
  tenant?: string;
  /** Who calls, by a name that is no secret; absent where nobody is asked. */
  caller?: string;
  /** What would have to be shown to use this tool, where the tenant has it and this caller may not. */
  challenge?(tool: string): Denied | undefined;
}

/** Decides who is let in. */
export interface Gate {
  /** @throws Denied */
  admit(request: IncomingMessage): Promise<Admitted>;
  /** What anybody may read at this path, to learn how to be let in. */
  published?(path: string): object | undefined;
}

/** Lets everybody in who reaches it. */
export const forEveryone = (served: Served | SdkServed): Gate => ({
  admit: async () => ({ served }),
});

/** What a caller has shown to be. */
export interface Recognised {
  caller: string;
  door: Door;
  /** What the caller may do at most; the operator's grants narrow it further. */
  grants: ReadonlySet<Grant>;
  challenge?(needs: readonly Grant[]): Denied;
}

/** One way in which callers show who they are. */
export interface Way {
  /**
   * Who calls; nothing where the request shows nothing of this kind. `sender`: the address or network that
   * it comes from.
   * @throws Denied for what is shown and is not right
   */
  recognise(request: IncomingMessage, sender: string): Promise<Recognised | undefined>;
  /** How to ask for it, as `WWW-Authenticate` says it. */
  readonly asksFor: string;
  published?(path: string): object | undefined;
}

export interface GateOptions {
  ways: readonly Way[];
  guesses: Guesses;
}

/** Lets in whoever one of the ways recognises. */
export function gate({ ways, guesses }: GateOptions): Gate {
  const asksFor = { 'www-authenticate': ways.map((way) => way.asksFor).join(', ') };
  return {
    async admit(request) {
      const sender = guesses.senderOf(request);
      guesses.check(sender);
      try {
        return admitted((await recognised(ways, request, sender)) ?? unknown(request, asksFor));
      } catch (error) {
        if (isGuess(error)) guesses.count(sender);
        throw error;
      }
    },
    published(path) {
      return ways.map((way) => way.published?.(path)).find((found) => found !== undefined);
    },
  };
}

async function recognised(
  ways: readonly Way[],
  request: IncomingMessage,
  sender: string,
): Promise<Recognised | undefined> {
  for (const way of ways) {
    const found = await way.recognise(request, sender);
    if (found) return found;
  }
  return undefined;
}

/** Whoever shows something that none of the ways knows may be guessing, too. */
function unknown(request: IncomingMessage, headers: Record<string, string>): never {
  const guessed = request.headers.authorization !== undefined;
  throw new Denied(401, 'This server needs to know who is calling.', { headers, guessed });
}

function admitted({ caller, door, grants, challenge }: Recognised): Admitted {
  const served = door.served(grants);
  const who = { served, caller, tenant: door.name };
  if (!challenge) return who;
  return {
    ...who,
    challenge(tool) {
      if (served.parts.surface.find(tool)) return undefined;
      const needs = door.served(door.grants).parts.surface.find(tool)?.needs;
      return needs && challenge(needs);
    },
  };
}
