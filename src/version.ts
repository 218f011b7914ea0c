/** Put in by the build from package.json. */
declare const CPQ_MCP_VERSION: string;
declare const CPQ_MCP_NAME: string;

export const version: string = CPQ_MCP_VERSION;
/** Name in the MCP registry: a domain in reverse, and a name. */
export const registryName: string = CPQ_MCP_NAME;
