/** Lines with aligned columns, for a person. */
export function table(rows: readonly (readonly string[])[]): string {
  const widthOf = (at: number) => Math.max(...rows.map((row) => row[at]?.length ?? 0));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => cell.padEnd(widthOf(at))).join('  ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** An answer with its tables aligned, and without ids. */
export function forPerson(answer: string): string {
  const blocks: { isTable: boolean; lines: string[] }[] = [];
  for (const line of answer.split('\n')) {
    const isTable = line.includes('|');
    const last = blocks.at(-1);
    if (last?.isTable === isTable) last.lines.push(line);
    else blocks.push({ isTable, lines: [line] });
  }
  return blocks
    .map(({ isTable, lines }) => (isTable && lines.length > 1 ? aligned(lines) : lines.join('\n')))
    .join('\n');
}

function aligned(lines: readonly string[]): string {
  const rows = lines.map((line) => line.split(/(?<!\\)\|/));
  const [header = []] = rows;
  const withoutIds = (row: string[]) => row.filter((_, at) => !/\bid$/.test(header[at] ?? ''));
  return table(rows.map(withoutIds)).trimEnd();
}
