import { ConfigError, readCommandLine, readSettings } from '../config.ts';
import { openClient } from './own-client.ts';
import { forPerson, table } from './table.ts';

const questions = [
  ['How is our pipeline?', 'cpq_brief_pipeline', { rows: 2 }],
  ['Which quotes have gone stale?', 'cpq_check_sales_data', { check: 'stale_quotes', size: 5 }],
  ['Which deals moved last?', 'cpq_list_opportunities', { size: 5, sort: '-updatedAt' }],
  ['What changed since last week?', 'cpq_pipeline_changes', { since: '7d' }],
] as const;

export const help = `Use: cpq-mcp demo [--raw]
Prints the tools, and answers to questions about a made-up tenant.
Flags:
  --raw  with each call, and answers as an assistant reads them`;

export async function run(argv: readonly string[]): Promise<void> {
  const { flags, words } = readCommandLine(argv, {}, { raw: 'boolean' }, []);
  if (words.length > 0) throw new ConfigError(help);
  const { tools, ask, close } = await openClient(readSettings(['--sandbox'], {}));
  const list = table(tools.map(({ name, title = '' }) => [`  ${name}`, title]));
  process.stdout.write(`${tools.length} tools:\n${list}`);
  for (const [asked, name, args] of questions) {
    const answer = await ask(name, args);
    const shown = flags.raw ? `  ${name} ${JSON.stringify(args)}\n\n${answer}` : forPerson(answer);
    process.stdout.write(`\n> ${asked}\n${shown}`);
  }
  await close();
}
