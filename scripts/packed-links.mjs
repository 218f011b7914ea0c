// Run before and after packing: node scripts/packed-links.mjs absolute|relative
// The package has no docs/ folder, so the links of its README and changelog go to the repository, at the tag of the version.
import { readFile, writeFile } from 'node:fs/promises';

const { repository, version } = JSON.parse(await readFile('package.json', 'utf8'));
const [, name] = /^github:([^/]+\/[^/]+)$/.exec(repository) ?? [];
if (!name)
  throw new Error(`The repository in package.json is not github:OWNER/NAME: ${repository}`);

const pages = `https://github.com/${name}/blob/v${version}/`;
const pictures = `https://raw.githubusercontent.com/${name}/v${version}/`;
const baseOf = (path) => (/\.(png|svg)$/.test(path) ? pictures : pages);

const conversions = {
  absolute: (text) =>
    text.replaceAll(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, path) => `](${baseOf(path)}${path})`),
  relative: (text) => text.replaceAll(`](${pages}`, '](').replaceAll(`](${pictures}`, ']('),
};

const convert = conversions[process.argv[2]];
if (!convert) throw new Error('Say absolute or relative');
for (const file of ['README.md', 'CHANGELOG.md']) {
  await writeFile(file, convert(await readFile(file, 'utf8')));
}
