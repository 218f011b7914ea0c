/** Put in by the build: from package.json, and icons/icon-64.png in base64. */
declare const CPQ_MCP_VERSION: string;
declare const CPQ_MCP_ICON: string;

export const version: string = CPQ_MCP_VERSION;
export const icon: string = CPQ_MCP_ICON;
