// The same tool written as in the SDK's documentation: a server with one registered tool.
import { McpServer } from '@modelcontextprotocol/server';
import { request } from 'undici';
import * as z from 'zod';

export function sdkServer() {
  const server = new McpServer({ name: 'plain', version: '1' });
  server.registerTool(
    'cpq_list_opportunities',
    {
      description: 'Lists opportunities.',
      inputSchema: z.object({ size: z.number().int().default(20) }),
    },
    async ({ size }) => {
      const url = `${process.env.CPQ_BASE_URL}/public-api/opportunity?size=${size}`;
      const { body } = await request(url, { headers: { 'api-key': process.env.CPQ_API_KEY } });
      return { content: [{ type: 'text', text: await body.text() }] };
    },
  );
  return server;
}
