// An agent host with the server and its client in one process; their messages stay in memory. From a clone:
//
//   npm ci && node examples/embed.mjs
//
// In a project of your own, first: npm install /path/to/the/clone @modelcontextprotocol/client
// Without CPQ_BASE_URL and CPQ_API_KEY it uses the embedded tenant.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { createCpqServer } from 'cpq-mcp';

const { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: apiKey } = process.env;
const tenant = baseUrl && apiKey ? { baseUrl, apiKey } : { sandbox: true };

const cpq = await createCpqServer({ ...tenant, grants: ['company:read', 'opportunity:read'] });
console.log(`${cpq.tools.length} tools: ${cpq.tools.map((tool) => tool.name).join(', ')}`);

const [ours, theirs] = InMemoryTransport.createLinkedPair();
cpq.connect(theirs);
const client = new Client({ name: 'my-agent-host', version: '1.0.0' });
await client.connect(ours);

const { content } = await client.callTool({
  name: 'cpq_list_opportunities',
  arguments: { size: 3, sort: '-updatedAt' },
});
for (const part of content) if (part.type === 'text') console.log(`\n${part.text}`);

await client.close();
await cpq.close();
