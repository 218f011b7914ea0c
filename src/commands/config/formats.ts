import { isObject } from '../../values.ts';
import type { ConfigHost, Entry } from './hosts.ts';
import { serverName } from './launch.ts';

/** An entry in the format of the host's file, with the objects around it and the inputs that it refers to. */
export function entryText(
  { format, root }: Pick<ConfigHost, 'format' | 'root'>,
  entry: Entry,
  inputs: Entry = {},
): string {
  if (format === 'toml') return toml([root, serverName], entry);
  return `${JSON.stringify({ ...inputs, [root]: { [serverName]: entry } }, undefined, 2)}\n`;
}

/** A table, and after its values those inside it. Texts and lists of texts are written in TOML as in JSON. */
function toml(path: readonly string[], table: Entry): string {
  const lines = Object.entries(table).map(([name, value]) =>
    isObject(value) ? '' : `${name} = ${JSON.stringify(value)}\n`,
  );
  const inner = Object.entries(table).map(([name, value]) =>
    isObject(value) ? `\n${toml([...path, name], value)}` : '',
  );
  return `[${path.join('.')}]\n${[...lines, ...inner].join('')}`;
}
