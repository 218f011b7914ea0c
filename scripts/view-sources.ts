import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { type Loader, transformSync } from 'esbuild';

const folder = 'src/views/app';

/** The file in which the pictures of the documents keep the hash of the sources that they show. */
export const hashFile = 'docs/images/views.sha256';

/** A hash of the sources of the views without their comments. @param root the folder of the repository */
export function hashOfViews(root: string): string {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|css)$/.test(name))
    .map((name) => name.split(sep).join('/'))
    .sort();
  const hash = createHash('sha256');
  for (const name of files) {
    // A checkout on Windows may have other line ends.
    const text = readFileSync(join(root, folder, name), 'utf8').replaceAll('\r\n', '\n');
    hash.update(`${name}\n${withoutComments(name, text)}\n`);
  }
  return hash.digest('hex');
}

const loaders: Readonly<Record<string, Loader>> = { '.ts': 'ts', '.tsx': 'tsx', '.css': 'css' };

/** Comments and formatting change no picture. */
const withoutComments = (name: string, text: string): string =>
  transformSync(text, {
    loader: loaders[extname(name)] ?? 'text',
    jsx: 'preserve',
    minifyWhitespace: true,
    legalComments: 'none',
  }).code;
