import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';

const folder = 'src/views/app';

/** The file in which the pictures of the documents keep the hash of the sources that they show. */
export const hashFile = 'docs/images/views.sha256';

/** A hash of the sources of the views. @param root the folder of the repository */
export function hashOfViews(root: string): string {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|css)$/.test(name))
    .map((name) => name.split(sep).join('/'))
    .sort();
  const hash = createHash('sha256');
  for (const name of files) {
    // A checkout on Windows may have other line ends.
    const text = readFileSync(join(root, folder, name), 'utf8').replaceAll('\r\n', '\n');
    hash.update(`${name}\n${text}\n`);
  }
  return hash.digest('hex');
}
