// Generates docs/settings.md from the tables in src/config/.
import {
  flagOf,
  type Setting,
  type SettingName,
  settings,
  variableOf,
} from '../src/config/settings.ts';
import { keysOf } from '../src/values.ts';
import { code, generated, row } from './generated.ts';

const intro = `# Settings

Every setting. Made from \`src/config/\` by \`npm run generate:settings\`; do not edit.

A setting is an environment variable or a flag; the flag takes precedence. Secrets have no flag, because process lists
show flags. \`cpq-mcp doctor\` checks the settings.
`;

function describeSetting(name: SettingName): string {
  const { bare, description, fallback }: Setting = settings[name];
  const flag = flagOf(name);
  const shown = flag === undefined ? '' : code(bare ? `--${flag}` : `--${flag} …`);
  const usual = fallback === undefined || fallback === '' ? '' : code(fallback);
  return row(code(variableOf(name)), shown, usual, description);
}

const rows = keysOf(settings).map(describeSetting);
const table = [
  row('variable', 'flag', 'default', 'meaning'),
  row('---', '---', '---', '---'),
  ...rows,
];
await generated('docs/settings.md', `${intro}\n${table.join('\n')}\n`, 'generate:settings');
