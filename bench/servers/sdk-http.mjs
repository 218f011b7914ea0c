import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { sdkServer } from './sdk.mjs';

const handle = toNodeHandler(createMcpHandler(sdkServer));
const server = createServer((request, response) => void handle(request, response));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`);
});
process.stdin.once('end', () => process.exit()).resume();
