// Writes what other files repeat of package.json: node scripts/generate-metadata.mjs [--check] [--released]
// A fork changes `repository` in package.json and runs it. With --released, server.json also names the npm package of
// this version, for the MCP registry; before a release nobody owns that name.
import { readFile, writeFile } from 'node:fs/promises';

const { name, repository, version, author } = JSON.parse(await readFile('package.json', 'utf8'));
const [, owner, project] = /^github:([^/]+)\/([^/]+)$/.exec(repository) ?? [];
if (!owner)
  throw new Error(`The repository in package.json is not github:OWNER/NAME: ${repository}`);

const address = `github.com/${owner}/${project}`;
/** Every address of the repository in a file. */
const addresses = [/github\.com\/[\w-]+\/[\w-]+/g, address];
const mcpName = `io.github.${owner}/${project}`;

/** Of each file, the value that comes after a pattern, up to the next quote or slash. */
const repeated = {
  'package.json': [[/"mcpName": "[^"]*/, `"mcpName": "${mcpName}`], addresses],
  'server.json': [
    [/"name": "io\.github\.[^"]*/, `"name": "${mcpName}`],
    [/"version": "[^"]*/, `"version": "${version}`],
  ],
  'manifest.json': [
    [/"version": "[^"]*/, `"version": "${version}`],
    [/"author": \{ "name": "[^"]*/, `"author": { "name": "${author}`],
    addresses,
  ],
  'CHANGELOG.md': [[/github\.com\/[\w.-]+\/[\w.-]+(?=\/releases\/)/g, address]],
};

const npmPackage = {
  registryType: 'npm',
  identifier: name,
  version,
  transport: { type: 'stdio' },
  environmentVariables: [
    {
      name: 'CPQ_BASE_URL',
      description: "The tenant's API address, the part before /public-api",
      isRequired: true,
    },
    {
      name: 'CPQ_API_KEY',
      description: 'The key, issued under Settings → Integrations → API Key',
      isRequired: true,
      isSecret: true,
    },
  ],
};

const outdated = [];
for (const [file, replacements] of Object.entries(repeated)) {
  const present = await readFile(file, 'utf8');
  const text = replacements.reduce((all, [pattern, value]) => all.replace(pattern, value), present);
  if (text === present) continue;
  outdated.push(file);
  if (!process.argv.includes('--check')) await writeFile(file, text);
}
if (process.argv.includes('--check') && outdated.length > 0) {
  console.error(`${outdated.join(', ')}: out of date: npm run generate:metadata`);
  process.exitCode = 1;
}
if (process.argv.includes('--released')) {
  const server = JSON.parse(await readFile('server.json', 'utf8'));
  await writeFile('server.json', JSON.stringify({ ...server, packages: [npmPackage] }, null, 2));
}
