// Measures the tokens and requests of answers, and writes docs/tokens.md.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { startSandbox } from '../src/sandbox/index.ts';
import { clockAt } from '../test/support/clock.ts';
import {
  type Asked,
  countIn,
  type Measured,
  measure,
  measuredTenant,
} from '../test/support/oracle/budget.ts';
import { recordRequests } from '../test/support/sandbox.ts';
import { code, generated, row } from './generated.ts';

const { day, ...options } = measuredTenant;
const now = new Date(`${day}T09:00:00Z`);
// In the package's own folder: the built server finds what it does not bundle from there.
const folder = await mkdtemp(join('node_modules', '.cache', 'cpq-mcp-tokens-'));
const home = await mkdtemp(join(tmpdir(), 'cpq-mcp-tokens-'));
const sandbox = recordRequests(await startSandbox({ ...options, now, rateLimit: false }));

try {
  execFileSync(process.execPath, ['scripts/build.mjs', folder]);
  await generated('docs/tokens.md', page(await measure(sandbox, freshServer)), 'generate:tokens');
} finally {
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
  await rm(home, { recursive: true, force: true });
}

/** Starts a new server in a folder of its own, so that nothing was read before. */
async function freshServer(): Promise<Asked> {
  const [{ baseUrl, keys }] = sandbox.tenants;
  const address = { CPQ_BASE_URL: baseUrl, CPQ_API_KEY: keys.read, CPQ_RATE_LIMIT: '1000000' };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(folder, 'cpq-mcp.js'), 'stdio'],
    env: {
      HOME: await mkdtemp(join(home, 'server-')),
      PATH: process.env.PATH ?? '',
      ...address,
      ...clockAt(day),
    },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'cpq-mcp-tokens', version: '1' });
  await client.connect(transport);
  return { call: (tool, args) => answer(client, tool, args), close: () => client.close() };
}

async function answer(client: Client, name: string, args: Record<string, unknown>) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
  const text = content.map((part) => ('text' in part ? part.text : '')).join('\n');
  if (isError) throw new Error(`${name}: ${text}`);
  return { text, data: structuredContent };
}

function page(measured: readonly Measured[]): string {
  const tables = {
    opportunity: 'opportunities',
    product: 'products',
    quote: 'quotes',
    company: 'companies',
  };
  const counted = Object.entries(tables).map(
    ([table, plural]) => `${countIn(sandbox, table).toLocaleString('en-US')} ${plural}`,
  );
  const head = ['', 'text', 'structured', 'as the service sends it', 'requests', 'again'];
  return `# What answers cost

What frequent answers cost: tokens (o200k_base) as text and as structured content, of which a host shows one, and requests to
the service by a new server, and when asked again. The tenant is the sandbox at scale ${options.scale}: ${counted.join(', ')}.

Made by \`node scripts/run-ts.mjs scripts/generate-tokens.ts\`; do not edit.

${[row(...head), row(...head.map((name) => (name === '' ? '---' : '---:'))), ...measured.map(line)].join('\n')}

Asked were:

${measured.map(({ what, requested: asked }) => `- ${what}: ${code(asked)}`).join('\n')}
`;
}

function line({ what, text, structured, wire, cold, warm }: Measured): string {
  const cell = (tokens: number) => {
    const share = wire === undefined ? '' : ` (${Math.round((tokens / wire) * 1000) / 10} %)`;
    return `${tokens.toLocaleString('en-US')}${share}`;
  };
  const sent = wire === undefined ? '' : wire.toLocaleString('en-US');
  return row(what, cell(text), cell(structured), sent, String(cold), String(warm));
}
