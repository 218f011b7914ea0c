// Makes src/text/confusables.ts of Unicode's list of characters that look alike (UTS #39), which is read
// from the file or the address named, otherwise from Unicode's own server:
// npm run generate:confusables [-- confusables.txt]
import { readFile } from 'node:fs/promises';
import { formatted, generated } from './generated.ts';

const version = '17.0.0';
const published = `https://www.unicode.org/Public/${version}/security/confusables.txt`;
const path = 'src/text/confusables.ts';

const fromHex = (text: string): string =>
  String.fromCodePoint(...text.split(' ').map((point) => Number.parseInt(point, 16)));
const toHex = (text: string): string =>
  Array.from(text, (character) => character.codePointAt(0)?.toString(16)).join('+');

const source = process.argv.slice(2).find((word) => !word.startsWith('--')) ?? published;
const prototypes = prototypesIn(await read(source));
await generated(path, formatted(path, page(groupedByTarget(prototypes))), 'generate:confusables');

async function read(from: string): Promise<string> {
  if (!/^https?:/.test(from)) return readFile(from, 'utf8');
  const response = await fetch(from);
  if (!response.ok) throw new Error(`${from}: status ${response.status}`);
  return response.text();
}

/** Lines of `source ; target ; class # comment`, each character in hexadecimal. */
function prototypesIn(text: string): Map<string, string> {
  if (!text.includes(`Version: ${version}`)) throw new Error(`this is not version ${version}`);
  const lines = text.matchAll(/^([\dA-F]+)\s*;\s*([\dA-F]+(?: [\dA-F]+)*)\s*;/gm);
  return new Map([...lines].map(([, from = '', to = '']) => [fromHex(from), fromHex(to)]));
}

/** What a compatibility mapping gives as well need not be listed: skeletons are made of both. */
function groupedByTarget(all: ReadonlyMap<string, string>): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [from, to] of all) {
    const otherwise = [...from.normalize('NFKD')].map((it) =>
      it === from ? it : (all.get(it) ?? it),
    );
    if (otherwise.join('').normalize('NFD') === to.normalize('NFD')) continue;
    groups.set(toHex(to), [...(groups.get(toHex(to)) ?? []), toHex(from)]);
  }
  return groups;
}

function page(groups: ReadonlyMap<string, readonly string[]>): string {
  const order = (hex: string) => Number.parseInt(hex, 16);
  const lines = [...groups]
    .sort(([one], [other]) => order(one) - order(other) || (one < other ? -1 : 1))
    .map(([to, from]) => [to, ...from.toSorted((a, b) => order(a) - order(b))].join(' '));
  return `// Made by scripts/generate-confusables.ts of Unicode's confusables.txt, version ${version}.
/*! Copyright © 1991-2025 Unicode, Inc. Unicode License v3, https://www.unicode.org/license.txt */

/**
 * A line for each prototype: its characters, joined by \`+\`, and then every character that looks like it;
 * all in hexadecimal.
 */
export const confusables = \`
${lines.join('\n')}
\`;
`;
}
