import { ConfigError, readCommandLine } from '../config.ts';
import { argumentsIn, openClient } from './own-client.ts';
import type { CommandContext } from './start.ts';

export const help = `Use: cpq-mcp export TOOL [ARGUMENT=VALUE …] [--json] [--tenant T]
Prints the rows of a list, check or brief as CSV, or with --json as JSON, to the end and up to 5,000:
  cpq-mcp export cpq_list_quotes filters=status:sent > quotes.csv
The arguments are those of the tool; table=NAME chooses another table of its answer. The settings are the server's.`;

export async function run(argv: readonly string[], context: CommandContext): Promise<void> {
  const own = { json: 'boolean', tenant: 'string' } as const;
  const { settings, flags, words } = readCommandLine(argv, context.env, own);
  const [tool, ...rest] = words;
  if (tool === undefined) throw new ConfigError(help);
  const args = { ...argumentsIn(rest, help), ...(flags.json && { format: 'json' }) };
  const { read, close } = await openClient(settings, flags.tenant);
  try {
    const uri = `cpq://export/${tool}?${new URLSearchParams(args)}`;
    const { contents } = await read(uri);
    for (const { mimeType, ...content } of contents) {
      const text = 'text' in content ? content.text : '';
      if (mimeType === 'text/plain') context.stderr.write(`${text}\n`);
      else context.stdout.write(text);
    }
  } finally {
    await close();
  }
}
