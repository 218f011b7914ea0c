import { isObject } from '../../values.ts';
import type { Entry } from './launch.ts';

/** An entry as TOML tables; its fields are texts, lists of texts, and tables of texts. */
export function print(root: string, name: string, entry: Entry): string {
  const fields = Object.entries(entry);
  const own = Object.fromEntries(fields.filter(([, value]) => !isObject(value)));
  const inner = fields.flatMap(([field, value]) =>
    isObject(value) ? [tableOf([root, name, field], value)] : [],
  );
  return [tableOf([root, name], own), ...inner].join('\n');
}

/** A text of JSON is one of TOML, too. */
const tableOf = (path: readonly string[], values: Entry): string =>
  [
    `[${path.join('.')}]`,
    ...Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
    '',
  ].join('\n');
