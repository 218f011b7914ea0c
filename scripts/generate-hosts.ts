// Generates docs/hosts.md from the hosts of the command `config`.

import { entryText } from '../src/commands/config/formats.ts';
import { type ConfigHost, entryFor, hosts } from '../src/commands/config/hosts.ts';
import {
  baseUrlPlaceholder,
  type Launch,
  secrets,
  variables,
} from '../src/commands/config/launch.ts';
import { nextSteps } from '../src/commands/config.ts';
import { keysOf } from '../src/values.ts';
import { code, generated } from './generated.ts';

const intro = `# Hosts

The entry of each assistant's configuration: for a server that it starts, and for a team's server with access tokens. Made from
\`src/commands/config/hosts.ts\` by \`npm run generate:hosts\`; do not edit.

\`cpq-mcp config HOST\` prints the entry with your paths and addresses, and how to install it
([how](hosting.md#in-an-assistant)).
`;

const local: Launch = {
  command: 'node',
  args: ['/path/to/dist/cpq-mcp.js'],
  env: { [variables.baseUrl]: baseUrlPlaceholder },
  secret: secrets.key,
};

const team: Launch = {
  url: 'https://mcp.example.com/mcp',
  header: 'Authorization',
  prefix: 'Bearer ',
  secret: secrets.token,
  headers: {},
};

const systems = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' } as const;

/** The file of the user's servers on each system; systems with the same one together. */
function filesOf(host: ConfigHost): string {
  const paths = keysOf(systems).map((platform) => {
    const environment = platform === 'win32' ? { APPDATA: '%APPDATA%' } : {};
    const path = host.file({ platform, home: '~', environment });
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

function form(host: ConfigHost, launch: Launch): string {
  const { entry } = entryFor(host, launch, '');
  const text = entryText(host, entry, host.inputs?.(launch));
  const steps = nextSteps(host, launch, entry).replaceAll('\n', ' ');
  return `\`\`\`${host.format}\n${text.trimEnd()}\n\`\`\`\n\n${steps}\n`;
}

function section([name, host]: [string, ConfigHost]): string {
  return `
## ${host.title}

${code(`cpq-mcp config ${name}`)}; file ${filesOf(host)}

${form(host, local)}
A team's server:

${form(host, team)}`;
}

const sections = Object.entries(hosts).map(section);
await generated('docs/hosts.md', `${intro}${sections.join('')}`, 'generate:hosts');
