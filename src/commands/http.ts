import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readSettings, type Settings } from '../config.ts';
import { serveHttp } from '../hosts/http.ts';
import { webhookHandler } from '../hosts/webhooks.ts';
import { factsOf } from '../log.ts';
import { version } from '../version.ts';
import { type Opened, openTenant } from './open.ts';

const maxBodyBytes = 1024 * 1024;

/** Serves MCP over HTTP until told to stop. */
export async function http(argv: readonly string[]): Promise<void> {
  const settings = readSettings(argv, process.env);
  const opened = await openTenant(settings);
  const host = await serveHttp(opened, {
    host: settings.host,
    port: settings.port,
    allowedHosts: [],
    preview: showsPreview(settings),
    maxBodyBytes,
    ...webhooksFor(opened),
    onError: (error) => opened.log.warn('protocol', factsOf(error)),
    health: () => ({ status: 'ok', version }),
  }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(notListening(error, settings), { cause: error });
  });
  process.stdout.write(howToConnect(host.url, settings, opened));
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await host.close();
  await opened.close();
}

/** One tenant has no name of its own. */
const webhookTenant = 'default';

function webhooksFor({ webhooks, log }: Opened) {
  if (!webhooks) return {};
  const tenant = (name: string) => (name === webhookTenant ? webhooks : undefined);
  const onError = (error: unknown) => log.error('webhook not kept', factsOf(error));
  return { webhooks: webhookHandler({ tenant, onError }) };
}

/** The embedded tenant's data is nobody's; even so it is shown to this machine alone. */
const showsPreview = ({ sandbox, host }: Settings): boolean =>
  sandbox && ['127.0.0.1', '::1', 'localhost'].includes(host);

function notListening(error: NodeJS.ErrnoException, { host, port }: Settings): string {
  const where = `${host}, port ${port}`;
  if (error.code === 'EADDRINUSE')
    return `${where} is taken by another program. Choose another with --port; 0 takes any that is free.`;
  if (error.code === 'EACCES')
    return `${where} is not for this user. Choose one above 1023 with --port.`;
  return `It cannot listen on ${where}: ${error.message}. See --host and --port.`;
}

function howToConnect(url: string, settings: Settings, opened: Opened): string {
  const bundle = fileURLToPath(import.meta.url).replace(/chunks[/\\][^/\\]+$/, 'cpq-mcp.js');
  const args = [bundle, 'stdio', ...(settings.sandbox ? ['--sandbox'] : [])];
  const desktop = { mcpServers: { 'cpq-mcp': { command: process.execPath, args } } };
  const what = settings.sandbox ? 'the embedded tenant' : opened.tenant.host;
  return `cpq-mcp ${version} serves ${what} at ${url} (${opened.surface.list.length} tools)

Connect an assistant:
  Claude Code     claude mcp add --transport http cpq-mcp ${url}
  VS Code         code --add-mcp '${JSON.stringify({ name: 'cpq-mcp', type: 'http', url })}'
  Cursor          in ~/.cursor/mcp.json:
                  ${JSON.stringify({ mcpServers: { 'cpq-mcp': { url } } })}
  Claude Desktop  in claude_desktop_config.json (starts a server of its own):
                  ${JSON.stringify(desktop)}
${showsPreview(settings) ? `\nSee its views without one at ${new URL('/preview', url).href}\n` : ''}${opened.webhooks ? `\nWebhooks: ${url.replace(/mcp$/, `webhooks/${webhookTenant}`)}\n` : ''}
Stop with Ctrl-C.
`;
}
