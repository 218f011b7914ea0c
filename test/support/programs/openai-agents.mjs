// The Agents SDK: connects, converts every tool to its strict form, and calls one with every argument set, as a model
// would. Its argument is a JSON object: `url`, or `command`, `args` and `env`.
import {
  MCPServerStdio,
  MCPServerStreamableHttp,
  mcpToFunctionTool,
  RunContext,
} from '@openai/agents';

const { url, ...command } = JSON.parse(process.argv[2]);
const server = url ? new MCPServerStreamableHttp({ url }) : new MCPServerStdio(command);
await server.connect();

/** @returns whether it is strict, or why it is not */
function converted(tool) {
  try {
    const { strict, parameters } = mcpToFunctionTool(tool, server, true);
    return { name: tool.name, strict, parameters };
  } catch (error) {
    return { name: tool.name, strict: false, why: String(error) };
  }
}

const listed = await server.listTools();
const list = listed.find(({ name }) => name === 'cpq_list_companies');
const tool = mcpToFunctionTool(list, server, true);
const nothingGiven = Object.keys(tool.parameters.properties).map((name) => [name, null]);
const call = (args) =>
  tool.invoke(new RunContext(), JSON.stringify({ ...Object.fromEntries(nothingGiven), ...args }));

const said = {
  tools: listed.map(converted),
  answer: await call({ size: 3 }),
  refusal: await call({ size: 0 }),
  plain: await server.callTool('cpq_list_companies', { size: 3 }),
};
await server.close();
process.stdout.write(JSON.stringify(said));
