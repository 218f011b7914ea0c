// A client of the AI SDK: connects, lists and calls tools, and prints the results. Its argument is a JSON object:
// `url`, or `command`, `args` and `env`; `older` skips the negotiation of the era.
import { createMCPClient } from '@ai-sdk/mcp';
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';

const { url, older, ...command } = JSON.parse(process.argv[2]);
const transport = url ? { type: 'http', url } : new StdioMCPTransport(command);
const client = await createMCPClient({ transport, protocolVersionDiscovery: !older });
const tools = await client.tools();
const call = (name, args) => tools[name].execute(args, { toolCallId: name, messages: [] });
const failed = (error) => ({ thrown: String(error) });

const said = {
  revision: client.initializeResult.protocolVersion,
  server: client.serverInfo.name,
  instructions: client.instructions,
  tools: Object.keys(tools),
  answer: await call('cpq_list_companies', { size: 3 }),
  refusal: await call('cpq_list_companies', { size: 0 }).catch(failed),
  resources: (await client.listResources()).resources.map(({ uri }) => uri),
  definitions: (await client.readResource({ uri: 'cpq://definitions' })).contents[0].text,
  prompts: (await client.experimental_listPrompts()).prompts.map(({ name }) => name),
};
await client.close();
process.stdout.write(JSON.stringify(said));
