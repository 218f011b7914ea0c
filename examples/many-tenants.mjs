// One program for many tenants, which asks its own user before a write. The tenants share cache, state and
// connections. From a clone:
//
//   npm ci && node examples/many-tenants.mjs
//
// In a project of your own, first: npm install /path/to/the/clone @modelcontextprotocol/client
// CPQ_TENANTS is a JSON list of tenants, such as [{"name": "acme", "baseUrl": "https://…", "apiKey": "…"}]. Without it
// there are two embedded tenants.
import { createInterface } from 'node:readline/promises';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { createCpqHost } from 'cpq-mcp';

const tenants = JSON.parse(
  process.env.CPQ_TENANTS ?? '[{"name":"acme","sandbox":true},{"name":"globex","sandbox":true}]',
);
const terminal = createInterface({ input: process.stdin, output: process.stdout });
const host = createCpqHost({ cacheMegabytes: 512 });

/** The server asks a yes-or-no question; its text shows every value that would be written. */
async function askUser({ params: { message } }) {
  const answer = await terminal.question(`\n${message}\n[y/N] `);
  const agreed = /^y/i.test(answer);
  return agreed ? { action: 'accept', content: { agree: true } } : { action: 'decline' };
}

async function connect(cpq) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  cpq.connect(theirs);
  const info = { name: 'my-agent-host', version: '1.0.0' };
  const client = new Client(info, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', askUser);
  await client.connect(ours);
  return client;
}

for (const options of tenants) {
  const cpq = await host.tenant({ ...options, grants: ['read', 'opportunity:write'] });
  const client = await connect(cpq);
  const { content } = await client.callTool(
    {
      name: 'cpq_upsert_opportunity',
      arguments: { external_id: 'EXAMPLE-1', create: true, name: 'Renewal of the support plan' },
    },
    {
      timeout: 600_000, // The user may take a while.
      onprogress: ({ message }) => message && console.log(message),
    },
  );
  console.log(`\n${options.name}: ${content.find(({ type }) => type === 'text').text}`);
  await client.close();
  await cpq.close();
}
terminal.close();
await host.close();
