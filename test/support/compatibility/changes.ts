import type { Rewrite } from '../upstream/behaviour.ts';
import { inSearches, type SearchPage } from './rewrite.ts';
import type { Choices } from './service.ts';

export interface Change extends Choices {
  /** The same in the documented form, where the records are others than usual. */
  like?: Choices;
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
