import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ConfigError } from '../config.ts';
import type { CommandContext } from './start.ts';

/** Asks on the terminal, or reads lines that are piped in. */
export function openTerminal({ stdin, stderr }: Pick<CommandContext, 'stdin' | 'stderr'>) {
  const input = stdin();
  let isHidden = false;
  const output = new Writable({
    write(chunk, _, done) {
      if (!isHidden) stderr.write(chunk);
      done();
    },
  });
  const terminal = input.isTTY === true;
  const lines = createInterface({ input, output, terminal, historySize: 0 });
  lines.on('SIGINT', () => process.exit(130));
  const answers = lines[Symbol.asyncIterator]();
  return {
    async ask(question: string, hidden?: 'hidden'): Promise<string> {
      isHidden = hidden !== undefined;
      stderr.write(question);
      const { value } = await answers.next();
      if (isHidden || !terminal) stderr.write('\n');
      if (value === undefined) throw new ConfigError('No answer.');
      return value.trim();
    },
    close: () => lines.close(),
  };
}
