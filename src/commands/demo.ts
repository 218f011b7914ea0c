import { ConfigError, readSettings } from '../config.ts';
import { openClient } from './own-client.ts';

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
    arguments: { since: '7d' },
  },
];

export const help =
  'Use: cpq-mcp demo\nPrints calls of tools, and their answers as an assistant reads them.';

/** Runs example calls with a real client against the embedded tenant. */
export async function run(argv: readonly string[]): Promise<void> {
  if (argv.length > 0) throw new ConfigError('demo has no flags');
  const { client, ask, close } = await openClient(readSettings(['--sandbox'], {}));
  const { tools } = await client.listTools();
  const list = tools.map((tool) => `  ${tool.name}  ${tool.title}`).join('\n');
  process.stdout.write(`${tools.length} tools:\n${list}\n`);
  for (const { asked, name, arguments: args } of questions)
    process.stdout.write(
      `\n> ${asked}\n  ${name} ${JSON.stringify(args)}\n\n${await ask(name, args)}`,
    );
  await close();
}
