import { ConfigError, readSettings } from '../config.ts';
import { openClient } from './own-client.ts';

/** Example questions, and the tool call for each. */
const questions = [
  ['How is our pipeline?', 'cpq_brief_pipeline', { rows: 2 }],
  ['Which quotes have gone stale?', 'cpq_check_sales_data', { check: 'stale_quotes', size: 5 }],
  ['Which deals moved last?', 'cpq_list_opportunities', { size: 5, sort: '-updatedAt' }],
  ['What changed since last week?', 'cpq_pipeline_changes', { since: '7d' }],
] as const;

export const help =
  'Use: cpq-mcp demo\nPrints calls of tools, and their answers as an assistant reads them.';

/** Runs example calls with a real client against the embedded tenant. */
export async function run(argv: readonly string[]): Promise<void> {
  if (argv.length > 0) throw new ConfigError('demo has no flags');
  const { client, ask, close } = await openClient(readSettings(['--sandbox'], {}));
  const { tools } = await client.listTools();
  const list = tools.map((tool) => `  ${tool.name}  ${tool.title}`).join('\n');
  process.stdout.write(`${tools.length} tools:\n${list}\n`);
  for (const [asked, name, args] of questions)
    process.stdout.write(
      `\n> ${asked}\n  ${name} ${JSON.stringify(args)}\n\n${await ask(name, args)}`,
    );
  await close();
}
