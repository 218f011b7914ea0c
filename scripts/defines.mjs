import { readFileSync } from 'node:fs';

const read = (path, encoding) => readFileSync(new URL(`../${path}`, import.meta.url), encoding);
const { version } = JSON.parse(read('package.json', 'utf8'));

/** What the build puts in place of names in `src/version.ts` and `src/mcp/definitions.ts`. */
export const define = {
  CPQ_MCP_VERSION: JSON.stringify(version),
  CPQ_MCP_DEFINITIONS: JSON.stringify(read('docs/definitions.md', 'utf8')),
  CPQ_MCP_ICON: JSON.stringify(read('icons/icon-64.png', 'base64')),
};
