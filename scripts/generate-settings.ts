// Makes docs/settings.md of the table in src/config.ts.
import { settings } from '../src/config.ts';
import { code, generated, row } from './generated.ts';

const intro = `# Settings

Made from \`src/config.ts\` by \`npm run generate:settings\`; do not edit.

A setting is a variable of the environment or a flag of the command; a flag wins. The key has no flag,
because flags show in lists of processes. \`cpq-mcp doctor\` checks them.
`;

interface Described {
  env: string;
  flag?: string;
  bare?: boolean;
  about: string;
  fallback?: string;
}

function described({ env, flag, bare, about, fallback }: Described): string {
  const word = flag === undefined ? '' : code(bare ? `--${flag}` : `--${flag} …`);
  const usual = fallback === undefined || fallback === '' ? '' : code(fallback);
  return row(code(env), word, usual, about);
}

const rows = Object.values<Described>(settings).map(described);
const table = [
  row('variable', 'flag', 'default', 'meaning'),
  row('---', '---', '---', '---'),
  ...rows,
];
await generated('docs/settings.md', `${intro}\n${table.join('\n')}\n`, 'generate:settings');
