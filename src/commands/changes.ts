import { ConfigError, readCommandLine } from '../config.ts';
import { argumentsIn, openClient } from './own-client.ts';
import type { CommandContext } from './start.ts';
import { forPerson } from './table.ts';
import { openTerminal } from './terminal.ts';

export const help = `Use: cpq-mcp changes [list] [since=DATE] [until=DATE] [opportunity=ID] [size=N] [--tenant T]
     cpq-mcp changes undo CHANGE [--tenant T]
"list" shows what this server wrote, newest first; "undo" takes back one change, by the id that the list shows, after
you agreed to the difference. The settings are the server's; no grant is needed to undo.`;

export async function run(argv: readonly string[], context: CommandContext): Promise<void> {
  const { settings, flags, words } = readCommandLine(argv, context.env, { tenant: 'string' });
  const [verb = 'list', ...rest] = words[0]?.includes('=') ? ['list', ...words] : words;
  const isUndo = verb === 'undo' && rest.length === 1;
  if (!isUndo && verb !== 'list') throw new ConfigError(help);
  const args = isUndo ? { change_id: rest[0] } : argumentsIn(rest, help);
  const terminal = openTerminal(context);
  const agree = async (question: string) =>
    // The end of the input is no, too.
    /^y(es)?$/i.test(
      await terminal.ask(`${question}\nWrite exactly this? (yes or no) `).catch(() => ''),
    );
  const { ask, close } = await openClient(settings, flags.tenant, agree);
  try {
    const answer = await ask(isUndo ? 'cpq_revert_change' : 'cpq_list_changes', args);
    context.stdout.write(forPerson(answer));
  } finally {
    terminal.close();
    await close();
  }
}
