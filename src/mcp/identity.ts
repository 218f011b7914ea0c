import { icon } from './icon.ts';

/** The server's name and version, which every modern answer contains. */
export const identity = (version: string) => ({
  name: 'cpq-mcp',
  title: 'Quotes and pipeline',
  version,
});

/** What the server says of itself when a connection is opened. */
export const description = (version: string) => ({ ...identity(version), icons: [icon] });

const capabilities = {
  tools: {},
  resources: {},
  prompts: {},
  completions: {},
  extensions: { 'io.modelcontextprotocol/ui': {} },
};

/** Capabilities, including those that only some connections support. */
export const capabilitiesOf = (subscribe: boolean) =>
  subscribe ? { ...capabilities, resources: { subscribe } } : capabilities;

const hour = 3_600_000;
/** Lists never change while the server runs, but depend on the caller's grants. */
export const listCacheHints = { ttlMs: hour, cacheScope: 'private' as const };
