import { ConfigError } from '../config.ts';

/** Example questions, and the tool call for each. */
const questions = [
  {
    asked: 'How is our pipeline?',
    name: 'cpq_brief_pipeline',
    arguments: { rows: 2 },
  },
  {
    asked: 'Which quotes have gone stale?',
    name: 'cpq_check_sales_data',
    arguments: { check: 'stale_quotes', size: 5 },
  },
  {
    asked: 'Which deals moved last?',
    name: 'cpq_list_opportunities',
    arguments: { size: 5, sort: '-updatedAt' },
  },
  {
    asked: 'What changed since last week?',
    name: 'cpq_pipeline_changes',
    arguments: { since: 'last_week' },
  },
];

export const help = 'Use: cpq-mcp demo\nIt takes no flags.';

/** Runs example calls with a real client over stdio against the embedded tenant. */
export async function run(argv: readonly string[]): Promise<void> {
  if (argv.length > 0) throw new ConfigError('demo takes no arguments');
  const { Client, StdioClientTransport } = await import('../hosts/client.ts');
  const client = new Client({ name: 'cpq-mcp-demo', version: '1' });
  const bundle = process.argv[1] ?? '';
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [bundle, 'stdio', '--sandbox'] }),
  );
  const { tools } = await client.listTools();
  write(
    `${tools.length} tools:\n${tools.map((tool) => `  ${tool.name}  ${tool.title}`).join('\n')}\n`,
  );
  for (const { asked, ...call } of questions) {
    const result = await client.callTool(call);
    const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    write(`\n> ${asked}\n  ${call.name} ${JSON.stringify(call.arguments)}\n\n${text}\n`);
  }
  await client.close();
}

const write = (text: string): boolean => process.stdout.write(text);
