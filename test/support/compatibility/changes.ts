import type { Row } from '../hosts.ts';
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

/** What `make` makes of each form. @param words before each name */
export const ofEach = <F, R>(
  forms: Readonly<Record<string, F>>,
  make: (form: F) => R,
  words = '',
): Record<string, R> =>
  Object.fromEntries(Object.entries(forms).map(([name, form]) => [`${words}${name}`, make(form)]));

/** Variations by their names. */
export const rewritten = (of: Readonly<Record<string, () => Rewrite>>): Changes =>
  ofEach(of, (rewrite) => ({ rewrite }));

/** A body that has the rows in `results`, and this. */
export const beside =
  (make: (page: SearchPage) => Row) =>
  (page: SearchPage): Row => ({ results: page.rows, ...make(page) });

/** Variations of the bodies of searches. */
export const bodies = (of: Readonly<Record<string, (page: SearchPage) => unknown>>): Changes =>
  rewritten(ofEach(of, (make) => inSearches((page) => ({ body: make(page) }))));
