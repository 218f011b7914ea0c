import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ConfigError } from '../config.ts';

/** Asks on the terminal, or reads lines that are piped in. */
export function openTerminal() {
  let isHidden = false;
  const output = new Writable({
    write(chunk, _, done) {
      if (!isHidden) process.stderr.write(chunk);
      done();
    },
  });
  const { stdin } = process;
  const terminal = stdin.isTTY === true;
  const lines = createInterface({ input: stdin, output, terminal, historySize: 0 });
  lines.on('SIGINT', () => process.exit(130));
  const answers = lines[Symbol.asyncIterator]();
  return {
    async ask(question: string, hidden?: 'hidden'): Promise<string> {
      isHidden = hidden !== undefined;
      process.stderr.write(question);
      const { value } = await answers.next();
      if (isHidden || !terminal) process.stderr.write('\n');
      if (value === undefined) throw new ConfigError('No answer.');
      return value.trim();
    },
    close: () => lines.close(),
  };
}
