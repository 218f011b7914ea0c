/** Lines with aligned columns, for a person. */
export function table(rows: readonly (readonly string[])[]): string {
  const widthOf = (at: number) => Math.max(...rows.map((row) => row[at]?.length ?? 0));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => cell.padEnd(widthOf(at))).join('  ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** An answer with its tables aligned, and without ids. */
export const forPerson = (answer: string): string =>
  answer.replace(/(?:.+\|.+\n){2,}/g, (lines) => {
    const rows = lines.trimEnd().split('\n');
    const [header = [], ...others] = rows.map((row) => row.split(/(?<!\\)\|/));
    const shown = (row: string[]) => row.filter((_, at) => !/\bid$/.test(header[at] ?? ''));
    return table([header, ...others].map(shown));
  });
