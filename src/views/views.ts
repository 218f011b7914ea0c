import { readFile } from 'node:fs/promises';
import { errorCode, keysOf } from '../values.ts';

/** The interactive views with their titles; each is built into one HTML file. */
export const viewTitles = {
  pipeline: 'Pipeline board',
  changes: 'Changes of the pipeline',
  quote: 'Quote',
  quotes: 'Quotes',
  company: 'Company',
  change: 'Change to an opportunity',
} as const;
export type ViewName = keyof typeof viewTitles;
export const viewNames = keysOf(viewTitles);

/** Possible folders of the views, relative to a chunk of the bundle, to the bundle, and to the sources. */
const places = ['../views/', './views/', '../../dist/views/'];

/**
 * Reads a built page from disk. It is not cached, because most conversations show no view.
 * @throws Error if the views were not built
 */
export async function readView(name: ViewName | 'preview'): Promise<string> {
  for (const place of places) {
    try {
      return await readFile(new URL(`${place}${name}.html`, import.meta.url), 'utf8');
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  throw new Error(`The view "${name}" was not built: run npm run build.`);
}

interface PageFacts {
  /** The names of the tools that are listed. */
  tools: readonly string[];
  /** The tenant is the embedded one, whose records are invented. */
  isMadeUp: boolean;
}

/** Writes into a page what a view needs and hosts do not send: of the tools those that it can call. */
export const withFacts = (page: string, { tools, isMadeUp }: PageFacts): string => {
  const own = tools.filter((name) => page.includes(name)).join(' ');
  return page
    .replace('<meta name="tools" content="">', `<meta name="tools" content="${own}">`)
    .replace('<meta name="made-up" content="">', `<meta name="made-up" content="${isMadeUp}">`);
};
