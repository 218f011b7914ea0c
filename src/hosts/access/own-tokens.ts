import { stat } from 'node:fs/promises';
import { parseGrants } from '../../tenant/grants.ts';
import { bearerOf, wrongBearer } from './bearer.ts';
import { Denied } from './denied.ts';
import type { Doors } from './doors.ts';
import type { Way } from './gate.ts';
import { isExpired, type KeptToken, looksOwn, match, readTokens } from './token-file.ts';

export interface OwnTokensOptions {
  path: string;
  doors: Doors;
  /** The file could not be read anew; what it said before holds. */
  onError(error: unknown): void;
}

/** How long what the file says may be old: a token that was revoked is refused soon. */
const lookAgainMs = 1_000;

/**
 * Callers with a token of this server's own.
 * @throws TokenFileError when the file cannot be read
 */
export async function ownTokens({ path, doors, onError }: OwnTokensOptions): Promise<Way> {
  const file = new TokenFile(path, onError);
  await file.open();
  return {
    asksFor: 'Bearer realm="cpq-mcp"',
    async recognise(request) {
      const token = bearerOf(request);
      if (token === undefined || !looksOwn(token)) return undefined;
      // One that is not known may have been made a moment ago.
      const kept = match(token, await file.tokens()) ?? match(token, await file.latest());
      if (!kept) throw wrongBearer('This access token is not known here.');
      if (isExpired(kept)) {
        throw wrongBearer(`The access token "${kept.name}" has expired: ask for a new one.`);
      }
      const door = doors.find(kept.tenant);
      if (!door) throw new Denied(403, kept.tenant === undefined ? unnamed : elsewhere);
      return { caller: `token:${kept.name}`, door, grants: parseGrants(kept.grants) };
    },
  };
}

const elsewhere = 'The tenant of this access token is not served here.';
const unnamed =
  'This access token names no tenant, and this server has several or none: ask for one that does.';

/** The file as it is now, or was a moment ago. */
class TokenFile {
  readonly #path: string;
  readonly #onError: (error: unknown) => void;
  #tokens: readonly KeptToken[] = [];
  #stamp = '';
  #lookedAt = 0;
  #told = '';
  #looking: Promise<void> | undefined;

  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = path;
    this.#onError = onError;
  }

  async open(): Promise<void> {
    await this.#look();
  }

  async tokens(): Promise<readonly KeptToken[]> {
    return Date.now() - this.#lookedAt >= lookAgainMs ? this.latest() : this.#tokens;
  }

  async latest(): Promise<readonly KeptToken[]> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#tell(error))
      .finally(() => {
        this.#looking = undefined;
      });
    await this.#looking;
    return this.#tokens;
  }

  async #look(): Promise<void> {
    this.#lookedAt = Date.now();
    const found = await stat(this.#path).catch(() => undefined);
    const stamp = found ? `${found.ino} ${found.size} ${found.mtimeMs}` : 'none';
    if (stamp === this.#stamp) return;
    this.#tokens = await readTokens(this.#path);
    this.#stamp = stamp;
    this.#told = '';
  }

  /** Once, and not at every look. */
  #tell(error: unknown): void {
    const what = String(error);
    if (what !== this.#told) this.#onError(error);
    this.#told = what;
  }
}
