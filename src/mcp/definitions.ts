declare const CPQ_MCP_DEFINITIONS: string;

/** The page docs/definitions.md, from the build. A module of its own: it is loaded only to be read. */
export const definitions: string = CPQ_MCP_DEFINITIONS;
