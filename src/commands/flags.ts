import { flagOf, httpSettings, type Setting, settings, variableOf } from '../config/settings.ts';
import { isKeyOf, keysOf } from '../values.ts';

const indent = ' '.repeat(6);

/** The flags of a command that reads the settings, each with its environment variable. */
export function flagsOf(command: string): string {
  const names = keysOf(settings).filter(
    (name) => command !== 'stdio' || !isKeyOf(httpSettings, name),
  );
  const lines = names.map((name) => {
    const { bare, description, fallback = '' }: Setting = settings[name];
    const flag = flagOf(name);
    const shown = flag === undefined ? '(no flag)' : `--${flag}${bare ? '' : ' VALUE'}`;
    const saysDefault = /default/.test(description);
    const byDefault = fallback === '' || bare || saysDefault ? '' : ` (default: ${fallback})`;
    return `  ${shown}, ${variableOf(name)}\n${wrap(`${indent}${description}${byDefault}`, indent)}`;
  });
  return `Use: cpq-mcp ${command} [flags]\nA flag wins over its environment variable.\n\n${lines.join('\n')}\n`;
}

/** Columns of a line; a narrower terminal wraps lines itself. */
const lineWidth = 100;

/** Wraps at spaces; further lines begin with `indent`. */
export function wrap(text: string, indent: string): string {
  if (text.length <= lineWidth) return text;
  const at = text.lastIndexOf(' ', lineWidth);
  if (at <= indent.length) return text;
  return `${text.slice(0, at)}\n${wrap(indent + text.slice(at + 1), indent)}`;
}
