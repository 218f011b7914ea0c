// The notices and the bill of materials of the packages whose code the build contains.
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Whose package contains no licence text: the copyright line of its repository, for the MIT licence. */
const copyrightOf = { '@redis/client': 'Copyright (c) 2022-2023, Redis, inc.' };

/**
 * Writes `THIRD-PARTY-NOTICES.txt` and `sbom.cdx.json` (CycloneDX 1.6) into the folder.
 * @param {string} dist
 * @param {Iterable<string>} files every source file of which code is in the build
 * @throws {Error} if a package has no licence text that could be included
 */
export async function writeNotices(dist, files) {
  const packages = [...[...packageFolders(files)].map(describePackage), ...packagesInside(files)];
  packages.sort((a, b) => (a.name < b.name ? -1 : 1));
  await writeFile(join(dist, 'THIRD-PARTY-NOTICES.txt'), notices(packages));
  await writeFile(join(dist, 'sbom.cdx.json'), `${JSON.stringify(sbom(packages), null, 2)}\n`);
}

function packageFolders(files) {
  const folders = new Set();
  for (const file of files) {
    const [, folder] =
      /(?:^|.*\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(
        file.replaceAll('\\', '/'),
      ) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  return folders;
}

/** Where the bundler of a package marks that code of another package begins. */
const regionStart =
  /^\/\/#region \S*\/\.pnpm\/(?:@[^/+]+\+)?[^/@]+@([^/_(]+)[^/]*\/node_modules\/((?:@[^/]+\/)?[^/\s]+)\//gm;

/** The packages whose code other packages contain, such as the JSON Schema validator in the MCP SDK. */
function packagesInside(files) {
  const found = new Map();
  for (const file of files) {
    if (!file.includes('node_modules')) continue;
    for (const [, version, name] of readFileSync(resolve(root, file), 'utf8').matchAll(regionStart))
      found.set(`${name}@${version}`, { name, version });
  }
  // Their licence texts are those of the installed packages, of whatever version.
  return [...found.values()].map(({ name, version }) => ({
    ...describePackage(`node_modules/${name}`),
    version,
  }));
}

function describePackage(folder) {
  const { name, version, license } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  );
  return { name, version, license, texts: licenceTexts(name, license, folder) };
}

function licenceTexts(name, license, folder) {
  const names = readdirSync(join(root, folder)).filter((file) =>
    /^(licen[cs]e|notice)/i.test(file),
  );
  const texts = names.map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
  if (texts.length > 0) return texts;
  const copyright = copyrightOf[name];
  if (copyright === undefined || license !== 'MIT') {
    throw new Error(`${name} has no licence text: add its copyright line to scripts/notices.mjs.`);
  }
  return [mitLicence(copyright)];
}

function notices(packages) {
  const head = `cpq-mcp contains code of these packages, under their own licences:\n\n${packages
    .map(({ name, version, license }) => `${name} ${version} (${license})`)
    .join('\n')}\n`;
  const bodies = packages.map(
    ({ name, version, texts }) =>
      `${'-'.repeat(80)}\n${name} ${version}\n\n${texts.join('\n\n')}\n`,
  );
  return [head, ...bodies].join('\n');
}

function sbom(packages) {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: component('application', own) },
    components: packages.map((it) => component('library', it)),
  };
}

function component(type, { name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type, 'bom-ref': purl, name, version, licenses: [{ license: { id: license } }], purl };
}

const mitLicence = (copyright) => `MIT License

${copyright}

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;
