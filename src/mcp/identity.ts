import { instructions } from './instructions.ts';

/** What the server says of itself, in whichever words the era has for it. */
export const identity = (version: string) => ({
  name: 'cpq-mcp',
  title: 'Quotes and pipeline',
  version,
});

const capabilities = {
  tools: {},
  resources: {},
  prompts: {},
  completions: {},
  extensions: { 'io.modelcontextprotocol/ui': {} },
};

/** The same, with what only some connections can do. */
export const capabilitiesOf = (subscribe: boolean) =>
  subscribe ? { ...capabilities, resources: { subscribe } } : capabilities;

const hour = 3_600_000;
/** The lists never change while the server runs, but may differ with what a caller is allowed. */
export const listCacheHints = { ttlMs: hour, cacheScope: 'private' as const };

export { instructions };
