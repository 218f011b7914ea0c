// Generates docs/settings.md from the tables in src/config/.
import {
  httpSettings,
  type Setting,
  type SettingName,
  settings,
  variableOf,
} from '../src/config/settings.ts';
import { keysOf } from '../src/values.ts';
import { code, generated } from './generated.ts';

const intro = `# Settings

Made from \`src/config/\` by \`npm run generate:settings\`; do not edit. Defaults are in brackets. The five that matter: \`CPQ_BASE_URL\`,
\`CPQ_API_KEY_FILE\`, \`CPQ_GRANTS\`, \`CPQ_ALLOWED_STAGES\`, \`CPQ_STATE_DIR\`.

\`CPQ_BASE_URL\` is also the flag \`--base-url\`, which takes precedence, and so on; only \`--host\` and \`--port\` are shorter.
Secrets have no flag, because process lists show flags, but a file (\`…_FILE\`). \`cpq-mcp doctor\` checks the settings.
`;

/** By who needs them; the others are of a server over HTTP. */
const groups: Readonly<Record<string, readonly SettingName[]>> = {
  'Everybody: the tenant, and what is read': [
    ...([
      'baseUrl',
      'apiKey',
      'apiKeyFile',
      'grants',
      'toolsets',
      'tools',
      'recordUrl',
      'sandbox',
    ] as const),
  ],
  'Who lets agents write': [
    ...(['allowWrites', 'consent', 'writesPerHour', 'writeFields', 'allowedStages'] as const),
  ],
  'Who keeps data, or shares it between processes': [
    ...(['stateDir', 'keepCollections', 'historyDays', 'cacheMegabytes', 'freshSeconds'] as const),
    ...(['redisUrl', 'rateLimit'] as const),
  ],
  'Who receives webhooks': [...(['webhookSecret', 'webhookSecretFile'] as const)],
  'Who serves others over HTTP': keysOf(httpSettings),
};

function describeSetting(name: SettingName): string {
  const { bare, description, fallback = '' }: Setting = settings[name];
  const isNamed = fallback === '' || bare || description.includes('default');
  return `- ${code(variableOf(name))}${isNamed ? '' : ` (${code(fallback)})`}: ${description}`;
}

const grouped = Object.values(groups).flat();
const others = keysOf(settings).filter((name) => !grouped.includes(name));
const sections = Object.entries({ ...groups, 'Who looks for a fault': others }).map(
  ([title, names]) => `\n## ${title}\n\n${names.map(describeSetting).join('\n')}\n`,
);
await generated('docs/settings.md', `${intro}${sections.join('')}`, 'generate:settings');
