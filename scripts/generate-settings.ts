// Generates docs/settings.md from the tables in src/config/.
import { flagOf, type Setting } from '../src/config/setting.ts';
import { settings } from '../src/config.ts';
import { code, generated, row } from './generated.ts';

const intro = `# Settings

Every setting. Made from \`src/config/\` by \`npm run generate:settings\`; do not edit.

A setting is an environment variable or a flag; the flag takes precedence. Secrets have no flag, because process lists
show flags. \`cpq-mcp doctor\` checks the settings.
`;

type SettingDescription = Omit<Setting, 'parse'>;

function describeSetting(described: SettingDescription): string {
  const { env, bare, description, fallback } = described;
  const flag = flagOf(described);
  const setting = flag === undefined ? '' : code(bare ? `--${flag}` : `--${flag} …`);
  const usual = fallback === undefined || fallback === '' ? '' : code(fallback);
  return row(code(env), setting, usual, description);
}

const rows = Object.values<SettingDescription>(settings).map(describeSetting);
const table = [
  row('variable', 'flag', 'default', 'meaning'),
  row('---', '---', '---', '---'),
  ...rows,
];
await generated('docs/settings.md', `${intro}\n${table.join('\n')}\n`, 'generate:settings');
