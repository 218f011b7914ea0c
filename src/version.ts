/** Put in by the build from package.json. */
declare const CPQ_MCP_VERSION: string;

export const version: string = CPQ_MCP_VERSION;
