// Generates docs/hosts.md from the hosts of the command `config`.

import { type ConfigHost, entryFor, entryText, hosts } from '../src/commands/config/hosts.ts';
import {
  baseUrlPlaceholder,
  type Launch,
  secrets,
  variables,
} from '../src/commands/config/launch.ts';
import { keysOf } from '../src/values.ts';
import { code, generated, row } from './generated.ts';

const intro = `# Hosts

Made from \`src/commands/config/hosts.ts\` by \`npm run generate:hosts\`; do not edit.

\`cpq-mcp connect HOST\` adds the server to a host; \`cpq-mcp config HOST\` prints the entry, with \`--http URL\` for a team's
server ([how](hosting.md#in-an-assistant)).

`;

const local: Launch = {
  command: 'node',
  args: ['/path/to/dist/cpq-mcp.js'],
  values: { [variables.baseUrl]: baseUrlPlaceholder },
  secret: secrets.key,
};

const systems = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' } as const;

/** The file of the user's servers on each system; systems with the same one together. */
function filesOf(host: ConfigHost): string {
  const paths = keysOf(systems).map((platform) => {
    const environment = platform === 'win32' ? { APPDATA: '%APPDATA%' } : {};
    const path = host.file({ platform, home: '~', env: environment });
    return { platform, path: path.replaceAll('\\', '/') };
  });
  const different = [...new Set(paths.map(({ path }) => path))];
  if (different.length === 1) return different.map(code).join('');
  return different
    .map((path) => {
      const on = paths.filter((one) => one.path === path);
      return `${code(path)} (${on.map(({ platform }) => systems[platform]).join(', ')})`;
    })
    .join(', ');
}

/** How the host gets a secret. */
function secretOf(host: ConfigHost): string {
  const { entry } = entryFor(host, local, '');
  const text = JSON.stringify(entry);
  if (host.inputs) return 'asked for once';
  return text.includes(secrets.key.placeholder) ? 'in the file' : 'from the environment';
}

const rows = Object.entries(hosts).map(([name, host]) =>
  row(host.title, code(name), filesOf(host), secretOf(host)),
);
const heading = [row('host', 'HOST', 'file', 'key or token'), row('---', '---', '---', '---')];
const usual = hosts.cursor;
if (!usual) throw new Error('the host of the example is gone');
const example = `
The entry is, in Cursor:

\`\`\`json
${entryText(usual, entryFor(usual, local, '').entry).trimEnd()}
\`\`\`
`;
await generated(
  'docs/hosts.md',
  `${intro}${[...heading, ...rows].join('\n')}\n${example}`,
  'generate:hosts',
);
