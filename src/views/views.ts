import { readFile } from 'node:fs/promises';

/** The interactive views, each built into one file. */
export const viewNames = ['pipeline', 'quote', 'company'] as const;
export type ViewName = (typeof viewNames)[number];

/**
 * Where they may lie, seen from this module: in a chunk of the bundle, in the bundle, and in the sources.
 */
const places = ['../views/', './views/', '../../dist/views/'];

/**
 * A page as it was built, from disk: most conversations never show one, so none is held in memory.
 * @throws Error where the views were not built
 */
export async function readView(name: ViewName | 'preview'): Promise<string> {
  for (const place of places) {
    try {
      return await readFile(new URL(`${place}${name}.html`, import.meta.url), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  throw new Error(`The view "${name}" was not built: run npm run build.`);
}
