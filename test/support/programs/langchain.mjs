// A client of LangChain: connects, lists and calls tools, and prints the results. Its argument is a JSON object: `url`,
// or `command`, `args` and `env`.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';

const { url, ...command } = JSON.parse(process.argv[2]);
const server = url ? { transport: 'http', url } : { transport: 'stdio', ...command };
const client = new MultiServerMCPClient({ mcpServers: { cpq: server } });
const tools = await client.getTools();
const call = (name, args) => tools.find((tool) => tool.name === name).invoke(args);
const failed = (error) => ({ thrown: String(error) });

const said = {
  tools: tools.map(({ name }) => name),
  answer: await call('cpq_list_companies', { size: 3 }),
  unknown: await call('cpq_brief_company', { company: 'nobody of this name' }),
  refusal: await call('cpq_get_record', { resource: 'company', id: 'none' }).catch(failed),
};
await client.close();
process.stdout.write(JSON.stringify(said));
