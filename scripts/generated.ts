import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';

/** Writes a generated file; with `--check`, fails instead if the file is out of date. */
export async function generated(path: string, text: string, script: string): Promise<void> {
  const present = await readFile(path, 'utf8').catch(() => '');
  if (present === text) return;
  if (!process.argv.includes('--check')) return writeFile(path, text);
  console.error(`${path} is out of date: npm run ${script}`);
  process.exitCode = 1;
}

/** Formats the text like the formatter, so that it stays unchanged afterwards. */
export const formatted = (path: string, text: string): string =>
  execFileSync(
    process.execPath,
    ['node_modules/@biomejs/biome/bin/biome', 'format', `--stdin-file-path=${path}`],
    { input: text, encoding: 'utf8' },
  );

/** A row of a table in Markdown. */
export const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;

export const code = (text: string): string => `\`${text}\``;
