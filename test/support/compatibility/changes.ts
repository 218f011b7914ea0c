import type { Rewrite } from './reply.ts';
import { inSearches, type SearchPage } from './rewrite.ts';
import type { Switches } from './switches.ts';

export interface Change extends Partial<Switches> {
  /** The same in the documented form, where the records are others than usual. */
  like?: Partial<Switches>;
  /** Questions that nobody can answer there. */
  mayFail?: readonly string[];
}

export type Changes = Readonly<Record<string, Change>>;

/** Variations by their names. */
export const rewritten = (of: Readonly<Record<string, () => Rewrite>>): Changes =>
  Object.fromEntries(Object.entries(of).map(([name, rewrite]) => [name, { rewrite }]));

/** Variations of the bodies of searches. */
export const bodies = (of: Readonly<Record<string, (page: SearchPage) => unknown>>): Changes =>
  rewritten(
    Object.fromEntries(
      Object.entries(of).map(([name, make]) => [
        name,
        inSearches((page) => ({ body: make(page) })),
      ]),
    ),
  );
